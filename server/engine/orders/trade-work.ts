import { type AttemptEvent, nextAttemptState } from '#domain/orders/order-lifecycle.ts';
import { EXECUTION_PROFILES } from '#domain/sizing/trading-constants.ts';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import type { Denial } from '#domain/workflow/denials.ts';
import type { EngineDeps, UserAccount } from '#server/deps.ts';
import {
  type AttemptRow,
  callEvent,
  type TradeRow,
  type TradeWithAttempts,
} from '#server/engine/records/trades.store.ts';
import type { Transition } from '#server/engine/records/transitions.ts';
import type { CallRecord, Exchange, OrderReport } from '#server/exchanges/exchange.ts';
import type { Config } from '#server/platform/config/config.ts';
import { isDataFault } from '#server/platform/db/database-errors.ts';
import type { Lease } from '#server/platform/jobs/leases.ts';

/** A trade as committed, under its lease. */
export type HeldTrade = TradeWithAttempts & { lease: Lease };

/** One trade under its lease: the input of every step of its execution. */
export interface TradeWork {
  deps: EngineDeps;
  lease: Lease;
  /** As committed: `record` changes it together with the database. */
  trade: TradeRow;
  /** Oldest first; the last one is in progress. */
  attempts: AttemptRow[];
  attempt: AttemptRow;
  /** Its user's place in the order of trading; null for an order by hand. */
  position: number | null;
  /** A stop of new entries covers it, as read with the trade, or later with a change of it. */
  isStopped?: boolean;
  closedSince?: string | undefined;
  exchange: Exchange;
  /** Null when the user's credentials are gone, or belong to another account than the order's. */
  account: UserAccount | null;
  /** Calls to the exchange that the next transition records. */
  calls: CallRecord[];
  onCall: (call: CallRecord) => void;
}

/** Whether the next step is taken now, later or never. `never`: the last transition has released the lease. */
export type StepResult = { next: 'now' } | { next: 'later'; at: Date } | { next: 'never' };

export const nextNow: StepResult = { next: 'now' };
export const later = (work: TradeWork, waitMs: number): StepResult => ({
  next: 'later',
  at: new Date(work.deps.clock.now().getTime() + waitMs),
});

export function exchangeOf(deps: EngineDeps, trade: TradeRow): Exchange {
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

/** The longest wait of a look-up in doubt or of an order that cannot be followed. */
const LONGEST_FIXED_WAIT_MS = 30_000;

/** No trade waits longer for its next step, so a due time further ahead was written before a step of the clock. */
export function longestWaitMs(config: Config): number {
  return Math.max(LONGEST_FIXED_WAIT_MS, ...Object.values(waitsOf(config, 'manual')));
}

/** When to check the fill: the profile's wait after the request left. */
export function verifyAt(work: TradeWork, submittedAt: Date): Date {
  const waits = waitsOf(work.deps.config, work.trade.profile);
  return new Date(submittedAt.getTime() + (work.attempt.attempt === 1 ? waits.firstMs : waits.secondMs));
}

export type TradeChanges = Partial<Omit<TradeRow, 'id'>>;
export type AttemptChanges = Partial<Omit<AttemptRow, 'id' | 'tradeId' | 'attempt' | 'state'>>;

/** What one step of a trade records, in one transaction. */
export interface TradeChange
  extends Pick<
    Transition,
    | 'order'
    | 'clears'
    | 'steps'
    | 'userEnd'
    | 'wakes'
    | 'calls'
    | 'releases'
    | 'mayWait'
    | 'audit'
    | 'notices'
  > {
  /** What happened to the attempt in progress; `domain/orders/order-lifecycle.ts` says which state follows. */
  event?: AttemptEvent;
  attempt?: AttemptChanges;
  trade?: TradeChanges;
  newAttempt?: AttemptRow;
  /** New lines of the timeline. */
  lines?: readonly string[];
}

/**
 * Commits what a step has found or is about to do, with the calls that led to it, fenced by the trade's lease. A request
 * that it announces may leave when this has returned null; a denial (I9) has written nothing.
 */
export async function record(work: TradeWork, change: TradeChange): Promise<Denial | null> {
  const { deps, lease, trade, attempt, attempts, calls } = work;
  const { event, lines = [], attempt: attemptChanges, trade: tradeChanges, newAttempt, ...rest } = change;
  const recorded = [...calls];
  const payload = recorded.findLast(({ type }) => type === 'place-order')?.requestData;
  const set = {
    ...attemptChanges,
    ...(payload === undefined ? {} : { orderPayload: payload }),
    state: event === undefined ? attempt.state : nextAttemptState(attempt.state, event),
  };
  const at = deps.clock.now();
  const timeline = lines.map((text) => ({ tradeId: trade.id, at, kind: 'timeline' as const, text }));
  const isAttemptChanged = event !== undefined || attemptChanges !== undefined || payload !== undefined;
  const transition: Transition = {
    lease,
    ...rest,
    ...(isAttemptChanged ? { attempt: { id: attempt.id, seen: attempt.state, set } } : {}),
    ...(tradeChanges === undefined ? {} : { trade: { id: trade.id, set: tradeChanges } }),
    ...(newAttempt === undefined ? {} : { newAttempt }),
    events: [...recorded.map((call) => callEvent(trade.id, call)), ...timeline],
  };
  const committed = await commitEvenWithoutCalls(work, transition, timeline);
  if (!committed.ok) {
    if (committed.reason === 'denied') return committed.denial;
    throw new Error(`trade ${trade.id} was refused as already traded`);
  }
  calls.splice(0, recorded.length);
  if (committed.isStopped) work.isStopped = true;
  Object.assign(trade, tradeChanges);
  if (isAttemptChanged) Object.assign(attempt, set);
  if (newAttempt !== undefined) attempts.push(newAttempt);
  return null;
}

/** Calls are recorded for the dialogs: bytes that the database does not take must not stop the order. */
async function commitEvenWithoutCalls(
  { deps, trade, calls }: TradeWork,
  transition: Transition,
  timeline: Required<Transition>['events'],
) {
  try {
    return await deps.transitions.commit(transition);
  } catch (error) {
    if (calls.length === 0 || !isDataFault(error)) throw error;
    deps.log.error({ err: error, tradeId: trade.id }, 'the calls of a trade could not be recorded');
    return await deps.transitions.commit({ ...transition, events: timeline });
  }
}

/** An attempt's note that nothing follows it: its own report never agreed with the position, so its rest is not certain. */
export const READ_FROM_POSITION = 'its fill was read from the position';

/** The exchange's report of the order as columns of its attempt. */
export const reported = (report: OrderReport): AttemptChanges => ({
  orderId: report.orderId,
  filledQuantity: report.filledQuantity,
  averagePrice: report.averagePrice,
  fee: report.fee,
  raw: report.raw,
});
