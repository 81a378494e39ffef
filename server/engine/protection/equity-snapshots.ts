import { D, toPlain } from '#domain/decimal.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { isFresh } from '#server/platform/clock.ts';
import { dayStart } from '#server/platform/day-start.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import {
  listDueSnapshots,
  ownFigures,
  recordSnapshot,
  type SnapshotReason,
} from './account-figures.store.ts';
import { type AccountKey, listAccounts } from './positions.store.ts';
import { createAccountReader, type ReaderDeps } from './read-account.ts';

/*
 * What accounts are worth: at the start of a day in the display zone, every hour, and after the end of a position. Read
 * at the lowest priority beside trading, never for an order.
 */

/** Accounts read at a time; one that does not answer delays one lane. */
const CONCURRENT = 4;
/** An account that could not be read is asked again after this time. */
const RETRY_MS = 60_000;
const HOUR_MS = 60 * 60_000;
const LOOK_EVERY_MS = 5_000;
/** Positions often end together, by one signal for many users: orders come first, and one reading serves several ends. */
const AFTER_END_MS = 30_000;

/** `run` takes the snapshots that are due; a failing account is left out and does not stop the others. */
export function createEquitySnapshots(deps: ReaderDeps): { run(): Promise<void> } {
  const { db, clock, config, log } = deps;
  const reader = createAccountReader(deps, { priority: 'background' });
  const failedAt = new Map<string, Date>();
  const nameOf = ({ userId, exchangePlatform }: AccountKey) => `${userId} ${exchangePlatform}`;

  async function take(account: AccountKey & { takenFor: SnapshotReason }): Promise<void> {
    const { userId, exchangePlatform, takenFor } = account;
    const platform = deps.exchanges.supported.find((one) => one === exchangePlatform);
    const connected = platform === undefined ? null : await deps.findAccount(userId, platform);
    if (connected === null || platform === undefined) return;
    const at = clock.now();
    const context = { priority: 'background' } as const;
    const balance = await deps.exchanges.get(platform).fetchBalance(connected, context);
    const reading = await reader.read(account, 0);
    if (reading.outcome !== 'read') return;
    const [missing] = reading.unreadable;
    if (missing !== undefined) throw new ExchangeError('unknown', missing.problem);
    const openProfit = reading.open.reduce((sum, { unrealisedProfit }) => sum.plus(unrealisedProfit), D(0));
    await recordSnapshot(db, {
      id: timeOrderedId(),
      userId,
      exchangePlatform,
      exchangeMode: config.exchangeMode,
      at,
      takenFor,
      equity: balance.futuresBalance,
      walletBalance: toPlain(D(balance.futuresBalance).minus(openProfit)),
      openProfit: toPlain(openProfit),
      // No exchange reports them with the balance.
      netDeposits: null,
      positions: ownFigures(reading.open),
    });
  }

  async function tryToTake(account: AccountKey & { takenFor: SnapshotReason }): Promise<void> {
    const name = nameOf(account);
    const at = failedAt.get(name);
    if (at !== undefined && isFresh({ at, maxAgeMs: RETRY_MS, now: clock.now() })) return;
    try {
      await take(account);
      failedAt.delete(name);
    } catch (error) {
      failedAt.set(name, clock.now());
      const { userId, exchangePlatform } = account;
      const level = error instanceof ExchangeError ? 'debug' : 'error';
      log[level]({ err: error, userId, exchangePlatform }, 'the equity of an account could not be read');
    }
  }

  return {
    async run() {
      const now = clock.now();
      const due = await listDueSnapshots(db, {
        accounts: await listAccounts(db),
        exchangeMode: config.exchangeMode,
        dayStart: dayStart(now, config.displayTimezone),
        hourStart: new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS),
        endedBefore: new Date(now.getTime() - AFTER_END_MS),
      });
      const waiting = due.values();
      const lane = async () => {
        for (const account of waiting) await tryToTake(account);
      };
      await Promise.all(Array.from({ length: CONCURRENT }, lane));
    },
  };
}

/** Looks every few seconds for due snapshots, one instance at a time; returns a function that stops it. */
export function startEquitySnapshots(deps: ReaderDeps): () => void {
  const snapshots = createEquitySnapshots(deps);
  let isTaking = false;
  async function run(): Promise<void> {
    if (isTaking) return;
    isTaking = true;
    const lease = {
      db: deps.db,
      clock: deps.clock,
      key: 'equity:snapshots',
      holder: deps.config.instanceId,
      log: deps.log,
    };
    await withLease(lease, () => snapshots.run()).catch((error: unknown) =>
      deps.log.warn({ err: error }, 'the equity of accounts could not be recorded'),
    );
    isTaking = false;
  }
  const stop = deps.clock.every(LOOK_EVERY_MS, () => void run());
  void run();
  return stop;
}
