import { randomUUID } from 'node:crypto';
import { settleOnPrice } from '#server/exchanges/paper/price-settlement.ts';
import { systemClock } from '#server/platform/clock.ts';
import type { OpenDatabase } from '#server/platform/db/pool.ts';
import { memoryMarks } from '../memory-marks.ts';
import { listenVenue } from '../server.ts';
import { createVenue, type VenueOptions } from '../venue.ts';
import { TRADING_KEY, venueCredentials } from '../venue-credentials.ts';
import { createControl } from './control.ts';
import { madeUpPrices } from './prices.ts';

/**
 * Not a secret: these keys only open play money on this machine. They are constant, so that a program can store them.
 */
const SECRET = 'the paper exchange on a port of its own';
const FIRST_ACCOUNT = '00000000-0000-4000-8000-000000000001';
/** Accounts whose id begins so are unified at Bitget: their kind outlasts a restart. */
const UNIFIED = 'f';
const FIRST_UNIFIED = FIRST_ACCOUNT.replace(/^./, UNIFIED);

export interface ProgramKeys {
  apiKey: string;
  apiSecret: string;
  /** For Bitget; Bybit has none. */
  passphrase: string;
}

export interface VenueProgram {
  url: string;
  /** Of the account that is classic at Bitget, and of the one that is unified there. */
  keys: ProgramKeys;
  unifiedKeys: ProgramKeys;
  close(): Promise<void>;
}

/** All dialects and their control routes on one loopback port, on an open database. */
export async function startVenueProgram(options: {
  database: Pick<OpenDatabase, 'db'>;
  port: number;
  seed: string;
  /** The interval between price changes; 0: only when a price is set. */
  walkEveryMs: number;
  startBalance: string;
  limits?: VenueOptions['limits'];
  onError: (error: unknown) => void;
}): Promise<VenueProgram> {
  const { db } = options.database;
  const { walkEveryMs, onError } = options;
  const marks = memoryMarks();
  const venue = createVenue({
    db,
    clock: systemClock,
    marks,
    startBalance: options.startBalance,
    limits: options.limits ?? 'none',
    // Clients with default settings expect this mode.
    newAccountMode: 'one_way_mode',
    credentialsFor: (accountId) => venueCredentials(accountId, SECRET),
    keyOf: (accountId) =>
      accountId.startsWith(UNIFIED) ? { ...TRADING_KEY, accountMode: 'unified' } : TRADING_KEY,
    onError,
  });
  const prices = madeUpPrices({ seed: options.seed, stepSeconds: Math.max(1, walkEveryMs / 1000) });
  for (const [token, price] of Object.entries(prices.now())) marks.push(token, price);

  const settleSoon = settleOnPrice({ settle: venue.settle, onError });
  const control = createControl({
    prices: {
      now: prices.now,
      async set(token, price) {
        prices.set(token, price);
        marks.push(token, price);
        await venue.settle(token);
      },
    },
    setFaults: (faults) => venue.setFaults(faults),
    db,
    newKeys: (mode) => keysOf(randomUUID().replace(/^./, mode === 'unified' ? UNIFIED : '0')),
  });
  const server = await listenVenue(
    { handle: (request) => (request.path.startsWith('/paper/') ? control(request) : venue.handle(request)) },
    { port: options.port },
  );
  const walk =
    walkEveryMs === 0
      ? null
      : setInterval(() => {
          for (const [token, price] of Object.entries(prices.step())) {
            marks.push(token, price);
            settleSoon(token);
          }
        }, walkEveryMs);
  return {
    url: server.url,
    keys: keysOf(FIRST_ACCOUNT),
    unifiedKeys: keysOf(FIRST_UNIFIED),
    async close() {
      if (walk) clearInterval(walk);
      await server.close();
    },
  };
}

function keysOf(accountId: string): ProgramKeys {
  const { apiKey, apiSecret, passphrase } = venueCredentials(accountId, SECRET);
  return { apiKey, apiSecret, passphrase };
}
