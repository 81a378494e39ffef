import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '#server/platform/clock.ts';
import { findPostmaster } from '#server/platform/db/embedded-postmaster.ts';
import { openPool } from '#server/platform/db/pool.ts';
import { createLog } from '#server/platform/log.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import { memoryMarks } from '#test/venues/memory-marks.ts';
import { listenVenue } from '#test/venues/server.ts';
import { createVenue, type TestVenue } from '#test/venues/venue.ts';
import { TRADING_KEY, type VenueKey } from '#test/venues/venue-credentials.ts';
import type { ManagedServer } from './managed-server.ts';

const SITE_SECRETS = { apiSecret: 'secret-of-the-exchange', passphrase: 'passphrase-of-the-exchange' };

/** The API key of a new account: one account serves one user. */
export const newSiteCredentials = () => ({ apiKey: `paper-${randomUUID()}`, ...SITE_SECRETS });

/** An exchange on its own URL, for a server in demo mode. Accepts the API keys of `newSiteCredentials`. */
export interface ExchangeSite {
  url: string;
  /** The books live in the server's database, so open them once the server runs. */
  openBooks(server: ManagedServer): Promise<void>;
  closeBooks(): Promise<void>;
  /** While away, it accepts requests and closes the connection without a response. */
  setAway(away: boolean): void;
  /** Sets the token's price; resting orders that it reaches fill. */
  setPrice(token: string, price: string): Promise<void>;
  /** Sets the permissions of API keys. */
  setKey(key: VenueKey): void;
  /** Replaces the active faults. */
  setFaults(faults: VenueFault[]): void;
  close(): Promise<void>;
}

export async function startExchangeSite(): Promise<ExchangeSite> {
  let exchange: TestVenue | null = null;
  let away = false;
  let key = TRADING_KEY;
  const marks = memoryMarks();
  let closeBooks = async () => {};
  const site = await listenVenue(
    {
      async handle(request) {
        if (exchange === null || away) throw new Error('The exchange is away');
        return exchange.handle(request);
      },
    },
    { port: 0 },
  );
  return {
    url: site.url,
    async openBooks(server) {
      const postmaster = await findPostmaster(join(server.dataDir, 'postgres'));
      if (postmaster === null) throw new Error('The database of the server is not running');
      const { host, port } = postmaster;
      const books = openPool({
        connection: { host, port, user: 'postgres', database: 'signal_board' },
        log: createLog({ level: 'silent' }),
      });
      closeBooks = () => books.close();
      exchange = createVenue({
        db: books.db,
        clock: systemClock,
        marks,
        startBalance: '2500.5',
        credentialsFor: () => ({ apiKey: '', ...SITE_SECRETS, accountMode: 'classic' }),
        keyOf: () => key,
      });
    },
    closeBooks: () => closeBooks(),
    setAway(isAway) {
      away = isAway;
    },
    async setPrice(token, price) {
      marks.push(token, price);
      await exchange?.settle(token);
    },
    setKey(next) {
      key = next;
    },
    setFaults: (faults) => exchange?.setFaults(faults),
    close: () => site.close(),
  };
}
