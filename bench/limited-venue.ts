import { systemClock } from '#server/platform/clock.ts';
import { migrateDatabase } from '#server/platform/db/migrate.ts';
import { openPool } from '#server/platform/db/pool.ts';
import { createLog } from '#server/platform/log.ts';
import { startFaultPostgres } from '#test/faults/postgres.ts';
import { bitgetOperations } from '#test/venues/bitget/operations.ts';
import { bybitOperations } from '#test/venues/bybit/operations.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import type { VenueRequest } from '#test/venues/http.ts';
import { memoryMarks } from '#test/venues/memory-marks.ts';
import { listenVenue } from '#test/venues/server.ts';
import { createVenue } from '#test/venues/venue.ts';
import { userIdOfVenueKey } from '#test/venues/venue-credentials.ts';
import { cpuSeconds, processTree } from './harness.ts';

const POSTMASTER = `select split_part(pg_read_file('postmaster.pid'), e'\\n', 1) as pid`;
const NO_DURABILITY = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/** A private request at the exchange. */
export interface Seen {
  userId: string;
  atMs: number;
  isOrder: boolean;
  /** Of an order: those of earlier rounds are looked up for their fees. */
  isLookUp: boolean;
  /** Equity is read now and then, whether there is an order or not. */
  isBalance: boolean;
  isRefused: boolean;
}

export type LimitedVenue = Awaited<ReturnType<typeof openLimitedVenue>>;

/** The test venue with the documented limits of accounts and addresses, in the process of the benchmark. */
export async function openLimitedVenue({ addresses }: { addresses: number }) {
  const postgres = await startFaultPostgres({ settings: NO_DURABILITY });
  const { connection } = postgres;
  const log = createLog({ level: 'silent' });
  await migrateDatabase({ connection, log });
  const database = openPool({ connection, log });
  const marks = memoryMarks();
  let seen: Seen[] = [];
  let lastSeenMs = performance.now();
  let priceReads: number[] = [];
  const limited = createVenue({
    db: database.db,
    clock: systemClock,
    marks,
    startBalance: '1000000',
    newAccountMode: 'one_way_mode',
    credentialsFor: () => ({
      apiKey: '',
      apiSecret: 'paper',
      passphrase: 'paper',
      accountMode: 'classic',
    }),
    limits: 'documented',
    onError: (error) => log.error({ err: error }, 'the venue failed'),
  });
  const watched = (address: number): Parameters<typeof listenVenue>[0] => ({
    async handle(request) {
      const { headers } = request;
      const userId = userIdOfVenueKey(headers['access-key'] ?? headers['x-bapi-api-key'] ?? '');
      const atMs = performance.now();
      if (request.path.endsWith('/tickers') && !request.query.includes('symbol=')) priceReads.push(atMs);
      const answer = await limited.handle({ ...request, address: String(address) });
      if (userId !== null && !isAudit(request)) {
        const isRefused =
          answer.status === 429 || answer.status === 403 || /"retCode":10006/.test(answer.body);
        const operations = operationsOf(request);
        const isOrder = operations.includes('place-order');
        const [isLookUp, isBalance] = [operations.includes('find-order'), operations.includes('balance')];
        if (!isBalance) lastSeenMs = atMs;
        seen.push({ userId, atMs, isOrder, isLookUp, isBalance, isRefused });
      }
      return answer;
    },
  });
  const servers = await Promise.all(
    Array.from({ length: addresses }, (_, address) => listenVenue(watched(address), { port: 0 })),
  );
  return {
    /** One for each address that the requests shall come from. */
    urls: servers.map(({ url }) => url),
    /** The requests from now on, up to the next call. */
    watch(): readonly Seen[] {
      seen = [];
      return seen;
    },
    /** For how many milliseconds nothing was asked about a user's trade. */
    quietMs: () => performance.now() - lastSeenMs,
    /** When all prices were read, in milliseconds, from now on up to the next call. */
    watchPriceReads(): readonly number[] {
      priceReads = [];
      return priceReads;
    },
    setFaults: (faults: readonly VenueFault[]) => limited.setFaults(faults),
    /** The number that a query of the exchange's books selects as `count`. */
    async count(query: string): Promise<number> {
      const { rows } = await database.pool.query<{ count: string }>(query);
      return Number(rows[0]?.count ?? 0);
    },
    async setPrice(token: string, price: string) {
      marks.push(token, price);
      await limited.settle(token);
    },
    /** Seconds of the processors that the exchange has used until now, its database included; null where not told. */
    async processorTime(): Promise<number | null> {
      const { rows } = await database.pool.query<{ pid: string }>(POSTMASTER);
      const used = await cpuSeconds(await processTree(Number(rows[0]?.pid)));
      const { user, system } = process.cpuUsage();
      return used === null ? null : used + (user + system) / 1_000_000;
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
      await database.close();
      await postgres.close();
    },
  };
}

const operationsOf = (request: VenueRequest) =>
  request.path.startsWith('/v5/') ? bybitOperations(request) : bitgetOperations(request);

/** Reads of all positions, of the past, and of the account's movements. */
const isAudit = (request: VenueRequest) =>
  /all-position|history|execution|closed-pnl|settleCoin/.test(`${request.path}?${request.query}`) ||
  (request.path.endsWith('orders-plan-pending') && !request.query.includes('symbol=')) ||
  operationsOf(request).includes('ledger');
