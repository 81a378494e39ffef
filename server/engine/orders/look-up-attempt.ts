import { ExchangeError, type OrderReport } from '#server/exchanges/exchange.ts';
import { findTrace, holdUnclear, leaveInDoubt } from './doubt-attempt.ts';
import {
  goOn,
  later,
  recordEvent,
  reported,
  type StepResult,
  type TradeWork,
  verifyAt,
} from './trade-work.ts';

/**
 * I6: an attempt in doubt is looked up by its client order id until the exchange knows it, or has missed it several
 *    times after any request must have arrived and shows no trace of it.
 */
const MISSES_BEFORE_NEVER_PLACED = 3;
/** Exchanges refuse requests with a timestamp older than some 30 s; this is twice that. */
const ARRIVAL_LIMIT_MS = 60_000;
const LOOK_UP_WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
const UNREACHABLE_WAIT_MS = 2_000;

/** The process ended before the answer: the request may or may not have left. */
export async function doubtInterrupted(work: TradeWork): Promise<StepResult> {
  await recordEvent(work, 'outcome_unknown', {
    text: `Attempt ${work.attempt.attempt}: interrupted while submitting, looking the order up`,
  });
  return goOn;
}

export async function lookUpAttempt(work: TradeWork): Promise<StepResult> {
  const { deps, attempt } = work;
  const report = await findReport(work);
  if (report === 'unreachable') return later(work, UNREACHABLE_WAIT_MS);
  const name = `Attempt ${attempt.attempt}`;
  const submittedAt = attempt.submittedAt ?? work.trade.createdAt;
  if (report !== null) {
    if (!isKnown(report)) return holdUnclear(work, report);
    await recordFound(
      work,
      report,
      `${name}: found at ${work.trade.exchangePlatform}`,
      verifyAt(work, submittedAt),
    );
    return goOn;
  }
  const misses = attempt.lookupMisses + 1;
  const elapsedMs = deps.clock.now().getTime() - submittedAt.getTime();
  if (misses < MISSES_BEFORE_NEVER_PLACED || elapsedMs < ARRIVAL_LIMIT_MS) {
    await recordEvent(work, 'lookup_missed', {
      text: `${name}: not found (look-up ${misses})`,
      changes: { lookupMisses: misses },
    });
    return later(work, lookUpWaitMs(misses));
  }
  const found = await findTrace(work, { isAccepted: false });
  if (found.trace === 'unreachable') return later(work, UNREACHABLE_WAIT_MS);
  if (found.trace === 'doubt') return leaveInDoubt(work, { doubt: found.doubt, misses });
  await recordEvent(work, 'declared_never_placed', {
    text: `${name}: never placed, ${work.trade.exchangePlatform} does not know it after ${misses} look-ups`,
    changes: { lookupMisses: misses, finishedAt: deps.clock.now(), doubt: null },
  });
  return goOn;
}

/** Grows with every miss to spare the user's request limit. */
export const lookUpWaitMs = (misses: number): number =>
  LOOK_UP_WAITS_MS[misses - 1] ?? LOOK_UP_WAITS_MS.at(-1) ?? 0;

/** 'unreachable' when the exchange gave no usable answer: nothing is concluded. */
export async function findReport(work: TradeWork): Promise<OrderReport | null | 'unreachable'> {
  const { account, exchange, trade, attempt, onCall } = work;
  if (account === null) return 'unreachable';
  try {
    const report = await exchange.findOrder(
      account,
      { token: trade.token, clientOrderId: attempt.clientOrderId },
      { onCall },
    );
    // A stop attached to the entry may close the position under the entry's id: that order is not the entry.
    return report !== null && report.side !== trade.side ? 'unreachable' : report;
  } catch (error) {
    if (error instanceof ExchangeError) return 'unreachable';
    throw error;
  }
}

/** A found order in a known state. */
type KnownReport = OrderReport & { state: Exclude<OrderReport['state'], 'unknown'> };
export const isKnown = (report: OrderReport): report is KnownReport => report.state !== 'unknown';

/** Records what the exchange reports of the order. */
export async function recordFound(
  work: TradeWork,
  report: KnownReport,
  text: string,
  verifyNext: Date,
): Promise<void> {
  const changes = { ...reported(report), doubt: null };
  const now = work.deps.clock.now();
  switch (report.state) {
    case 'open':
    case 'partially-filled':
      return recordEvent(work, 'found_open', {
        text: `${text}: open, ${report.filledQuantity} filled`,
        changes: { ...changes, verifyAt: verifyNext },
      });
    case 'filled':
      return recordEvent(work, 'found_filled', {
        text: `${text}: filled ${report.filledQuantity} at ${report.averagePrice ?? 'an unknown price'}`,
        changes: { ...changes, finishedAt: now },
      });
    case 'cancelled':
      return recordEvent(work, 'found_closed_unfilled', {
        text: `${text}: closed with ${report.filledQuantity} filled`,
        changes: { ...changes, finishedAt: now },
      });
  }
}
