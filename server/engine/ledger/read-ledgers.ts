import type { Deps } from '#server/deps.ts';
import { listAccounts } from '#server/engine/protection/positions.store.ts';
import {
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
  type LedgerEntry,
} from '#server/exchanges/exchange.ts';
import { isFresh } from '#server/platform/clock.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { monthBounds, monthOf } from '#server/platform/month-bounds.ts';
import {
  type LedgerOwner,
  type Period,
  readCoverage,
  readKeyedAccount,
  storePeriod,
} from './ledger.store.ts';

/*
 * Keeps what the exchanges' ledgers tell of the accounts that are traded, for statements. Each account is read once an
 * hour at the lowest priority, from where its coverage ends. A period counts only once all of its pages were read: its
 * entries and its coverage are one transaction, so that a crash between pages loses and doubles nothing.
 */

const HOUR_MS = 60 * 60_000;
const LOOK_EVERY_MS = 60_000;
/** An account whose ledger could not be read is asked again after this time. */
const RETRY_MS = 10 * 60_000;
/** Entries may come late: the last minutes are not read, and the last hour before them is read again. */
const SETTLED_MS = 10 * 60_000;
const OVERLAP_MS = HOUR_MS;
/** A period with more pages is read in halves. */
const MOST_PAGES = 100;

type LedgerDeps = Pick<Deps, 'db' | 'clock' | 'config' | 'log' | 'exchanges' | 'findAccount'>;

/** `run` reads what is due until `stop`; a failing account is left out and does not stop the others. */
export function createLedgerReads(deps: LedgerDeps): { run(): Promise<void>; stop(): void } {
  const { db, clock, config, log } = deps;
  const failedAt = new Map<string, Date>();
  let isStopping = false;

  async function read({ userId, exchangePlatform }: { userId: string; exchangePlatform: string }) {
    const platform = deps.exchanges.supported.find((one) => one === exchangePlatform);
    if (platform === undefined) return;
    const exchange = deps.exchanges.get(platform);
    const reach = exchange.ledgerReach;
    const account = reach === null ? null : await deps.findAccount(userId, platform);
    if (reach === null || account === null) return;
    const keyed = await readKeyedAccount(db, { userId, exchangePlatform });
    const owner: LedgerOwner = {
      userId,
      exchangePlatform,
      exchangeMode: config.exchangeMode,
      account: `${account.credentials.accountMode}:${keyed?.accountId ?? ''}`,
    };
    while (!isStopping) {
      const known = await readCoverage(db, owner);
      const now = clock.now().getTime();
      const end = now - SETTLED_MS;
      if (known !== null && end - known.to.getTime() < HOUR_MS) return;
      const kept = now - reach.keptMs;
      // What the exchange does not keep any more is a hole: a new period begins behind it.
      const before = known !== null && known.to.getTime() >= kept ? known : null;
      const from =
        before === null
          ? Math.max(kept, known?.to.getTime() ?? firstMonth(keyed?.since ?? clock.now()))
          : Math.max(before.from.getTime(), before.to.getTime() - OVERLAP_MS);
      if (from >= end) return;
      const asked = {
        from: new Date(from),
        to: new Date(Math.min(end, from + reach.longestPeriodMs)),
      };
      const { entries, to } = await readPeriod(exchange, account, asked);
      const isStored = await storePeriod(db, {
        owner,
        before,
        covered: { from: before?.from ?? asked.from, to },
        entries,
        isStillAccount: async (tx) =>
          (await readKeyedAccount(tx, { userId, exchangePlatform }))?.accountId === keyed?.accountId,
      });
      if (!isStored) return;
    }
  }

  /** The ledger begins with the month in which the key was entered, so that its statement is complete. */
  const firstMonth = (since: Date) =>
    monthBounds(monthOf(since, config.displayTimezone), config.displayTimezone).from.getTime();

  async function tryToRead(key: { userId: string; exchangePlatform: string }): Promise<void> {
    const { userId, exchangePlatform } = key;
    const name = `${userId} ${exchangePlatform}`;
    const at = failedAt.get(name);
    if (at !== undefined && isFresh({ at, maxAgeMs: RETRY_MS, now: clock.now() })) return;
    try {
      await read(key);
      failedAt.delete(name);
    } catch (error) {
      failedAt.set(name, clock.now());
      const level = error instanceof ExchangeError ? 'debug' : 'error';
      log[level]({ err: error, userId, exchangePlatform }, 'the ledger of an account could not be read');
    }
  }

  return {
    async run() {
      for (const key of await listAccounts(db)) {
        if (isStopping) return;
        await tryToRead(key);
      }
    },
    stop() {
      isStopping = true;
    },
  };
}

/** All entries of the period, newest first, or of its beginning where there are too many. */
async function readPeriod(
  exchange: Pick<Exchange, 'fetchLedger'>,
  account: ExchangeAccount,
  { from, to }: Period,
): Promise<{ entries: LedgerEntry[]; to: Date }> {
  const entries: LedgerEntry[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { from, to, ...(cursor === null ? {} : { cursor }) };
    const answer = await exchange.fetchLedger(account, query, { priority: 'background' });
    entries.push(...answer.entries);
    cursor = answer.next;
    if (cursor === null) return { entries, to };
  }
  const middle = new Date(from.getTime() + Math.floor((to.getTime() - from.getTime()) / 2));
  if (middle <= from) throw new ExchangeError('unknown', `The ledger has no end at ${from.toISOString()}`);
  return await readPeriod(exchange, account, { from, to: middle });
}

/** Looks every minute for accounts that are due, one instance at a time; returns a function that stops it. */
export function startLedgerReads(deps: LedgerDeps): () => void {
  const reads = createLedgerReads(deps);
  let isReading = false;
  async function run(): Promise<void> {
    if (isReading) return;
    isReading = true;
    const { db, clock, config, log } = deps;
    const lease = { db, clock, key: 'ledgers', holder: config.instanceId, log };
    await withLease(lease, () => reads.run()).catch((error: unknown) =>
      log.warn({ err: error }, 'the ledgers of accounts could not be read'),
    );
    isReading = false;
  }
  const stopLooking = deps.clock.every(LOOK_EVERY_MS, () => void run());
  void run();
  return () => {
    stopLooking();
    reads.stop();
  };
}
