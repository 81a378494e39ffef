import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
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

/** An exchange on an address of its own, for a server in demo mode. It knows the API keys of `newSiteCredentials`. */
export interface ExchangeSite {
  url: string;
  /** Its books lie in the server's database, so they open when that runs. */
  openBooks(server: ManagedServer): Promise<void>;
  closeBooks(): Promise<void>;
  /** Away, it takes requests and cuts them off without an answer. */
  setAway(away: boolean): void;
  /** A new price of the token; what rests at it fills. */
  setPrice(token: string, price: string): Promise<void>;
  /** What API keys may do. */
  setKey(key: VenueKey): void;
  /** Replaces what goes wrong from now on. */
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
      if (postmaster === null) throw new Error('The database of the server does not run');
      const { host, port } = postmaster;
      const books = openPool({
        connection: { host, port, user: 'postgres', database: 'signal_board' },
        log: createLog({ level: 'silent' }),
      });
      closeBooks = () => books.close();
      exchange = createVenue({
        db: books.db,
        clock: { now: () => new Date() },
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
