import { and, eq, sql } from 'drizzle-orm';
import { type AttemptEvent, nextAttemptState } from '#domain/orders/order-lifecycle.ts';
import { EXECUTION_PROFILES } from '#domain/sizing/trading-constants.ts';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import type { Deps, UserAccount } from '#server/deps.ts';
import type { CallRecord, Exchange, OrderReport } from '#server/exchanges/exchange.ts';
import type { Config } from '#server/platform/config/config.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { orderAttempts } from '#server/platform/db/schema.ts';
import { together } from '#server/platform/db/together.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { assertHeld, heldLease, type Lease, LeaseLostError } from '#server/platform/jobs/leases.ts';
import type { AttemptRow, TradeRow } from './trades.store.ts';

export type TradeDeps = Pick<
  Deps,
  'db' | 'clock' | 'config' | 'jobs' | 'log' | 'exchanges' | 'findAccount' | 'accountGuard' | 'onTradeEnd'
>;

/** One trade under its lease: the input of every step of its execution. */
export interface TradeWork {
  deps: TradeDeps;
  lease: Lease;
  trade: TradeRow;
  /** Oldest first; the last one is in progress. */
  attempts: AttemptRow[];
  attempt: AttemptRow;
  exchange: Exchange;
  /** Null when the user's credentials are gone, or belong to another account than the order's. */
  account: UserAccount | null;
  onCall: (call: CallRecord) => void;
}

/** Whether the next step is taken now, later or never. */
export type StepResult = { next: 'now' } | { next: 'later'; at: Date } | { next: 'never' };

export const goOn: StepResult = { next: 'now' };
export const later = (work: TradeWork, waitMs: number): StepResult => ({
  next: 'later',
  at: new Date(work.deps.clock.now().getTime() + waitMs),
});

export function exchangeOf(deps: TradeDeps, trade: TradeRow): Exchange {
  const platform = EXCHANGE_PLATFORMS.find((one) => one === trade.exchangePlatform);
  if (platform === undefined)
    throw new Error(`trade ${trade.id} has the unsupported exchange ${trade.exchangePlatform}`);
  return deps.exchanges.get(platform);
}

/** The profile's waits, unless the configuration sets them for both profiles. */
export function waitsOf(config: Config, profile: TradeRow['profile']) {
  const own = EXECUTION_PROFILES[profile];
  return {
    firstMs: config.verifyFirstMs ?? own.firstWaitMs,
    secondMs: config.verifySecondMs ?? own.secondWaitMs,
    cancelMs: config.cancelDelayMs ?? own.cancelDelayMs,
  };
}

/** When to check the fill: the profile's wait after the request left. */
export function verifyAt(work: TradeWork, submittedAt: Date): Date {
  const waits = waitsOf(work.deps.config, work.trade.profile);
  return new Date(submittedAt.getTime() + (work.attempt.attempt === 1 ? waits.firstMs : waits.secondMs));
}

/** A transaction fenced by the trade's lease. */
export const underLease = <Result>(
  { deps, lease }: Pick<TradeWork, 'deps' | 'lease'>,
  write: (tx: Tx) => Promise<Result>,
): Promise<Result> =>
  deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    return await write(tx);
  });

type AttemptChanges = Partial<
  Omit<typeof orderAttempts.$inferInsert, 'id' | 'tradeId' | 'attempt' | 'state'>
>;

/**
 * Applies an event to the attempt in progress: state, changes and a timeline line in one transaction, fenced by the
 * trade's lease. Commit it before the request that it announces leaves.
 */
export async function recordEvent(
  work: TradeWork,
  event: AttemptEvent,
  record: { text: string; changes?: AttemptChanges; alongside?: (tx: Tx) => Promise<void> },
): Promise<void> {
  const { deps, lease, attempt, trade } = work;
  const state = nextAttemptState(attempt.state, event);
  const { alongside, changes = {}, text } = record;
  const at = deps.clock.now();
  const write = async (db: Queryable) => {
    const changed = db
      .update(orderAttempts)
      .set({ ...changes, state })
      .where(
        and(
          eq(orderAttempts.id, attempt.id),
          eq(orderAttempts.state, attempt.state),
          sql`exists (select from held)`,
        ),
      )
      .returning({ id: orderAttempts.id });
    const writing = sql`
      with ${heldLease(lease)}, changed as ${changed}
      insert into trade_events (id, trade_id, at, kind, text)
      select ${timeOrderedId()}::uuid, ${trade.id}::uuid, ${at}::timestamptz, 'timeline', ${text} from changed
      returning 1`;
    const { rows } = await db.execute(writing).execute();
    if (rows.length === 0) throw new LeaseLostError(lease.key);
  };
  if (alongside === undefined) return await write(deps.db);
  await deps.db.transaction((tx) => together(alongside(tx), write(tx)));
}

/** The exchange's report of the order as columns of its attempt. */
export const reported = (report: OrderReport): AttemptChanges => ({
  orderId: report.orderId,
  filledQuantity: report.filledQuantity,
  averagePrice: report.averagePrice,
  fee: report.fee,
  raw: report.raw,
});
