import {
  findReport,
  findTrace,
  holdUnclear,
  isKnown,
  isUnreadable,
  leaveInDoubt,
  lookUpWaitMs,
  sendCancel,
  UNREACHABLE_WAIT_MS,
} from './look-up-attempt.ts';
import { takeFound } from './take-found.ts';
import { takeUnreachable, takeUnreadable } from './take-unreadable.ts';
import { later, nextNow, record, type StepResult, type TradeWork, verifyAt } from './trade-work.ts';

/**
 * I6: an attempt in doubt is looked up by its client order id until the exchange knows it, or has missed it several
 *    times after any request must have arrived and shows no trace of it.
 */
const MISSES_BEFORE_NEVER_PLACED = 3;
/** Exchanges refuse requests with a timestamp older than some 30 s; this is twice that. */
const ARRIVAL_LIMIT_MS = 60_000;

/** The process ended before the answer: the request may or may not have left. */
export async function doubtInterrupted(work: TradeWork): Promise<StepResult> {
  await record(work, {
    event: 'outcome_unknown',
    lines: [`Attempt ${work.attempt.attempt}: interrupted while submitting, looking the order up`],
  });
  return nextNow;
}

/** An order that comes into doubt may rest at the exchange: it is cancelled, as often as it is looked up from then on. */
export async function lookUpAttempt(work: TradeWork): Promise<StepResult> {
  const result = await lookUp(work);
  if (work.attempt.state === 'unknown' && work.attempt.doubt !== null) await sendCancel(work);
  return result;
}

async function lookUp(work: TradeWork): Promise<StepResult> {
  const { deps, attempt } = work;
  const report = await findReport(work);
  if (report === 'unreachable') {
    return takeUnreachable(work, { waitMs: UNREACHABLE_WAIT_MS, asked: 'find-order' });
  }
  const name = `Attempt ${attempt.attempt}`;
  const submittedAt = attempt.submittedAt ?? work.trade.createdAt;
  if (report !== null) {
    if (isUnreadable(report)) return takeUnreadable(work, report);
    if (!isKnown(report)) return holdUnclear(work, report);
    const text = `${name}: found at ${work.trade.exchangePlatform}`;
    return takeFound(work, report, { text, verifyNext: verifyAt(work, submittedAt) });
  }
  const misses = attempt.lookupMisses + 1;
  const elapsedMs = deps.clock.now().getTime() - submittedAt.getTime();
  if (misses < MISSES_BEFORE_NEVER_PLACED || elapsedMs < ARRIVAL_LIMIT_MS) {
    await record(work, {
      event: 'lookup_missed',
      lines: [`${name}: not found (look-up ${misses})`],
      attempt: { lookupMisses: misses },
    });
    return later(work, lookUpWaitMs(misses));
  }
  const found = await findTrace(work, { isAccepted: false });
  if (found.trace === 'unreachable') {
    return takeUnreachable(work, { waitMs: UNREACHABLE_WAIT_MS, asked: found.asked });
  }
  if (found.trace === 'doubt') return leaveInDoubt(work, { doubt: found.doubt, misses });
  await record(work, {
    event: 'declared_never_placed',
    lines: [
      `${name}: never placed, ${work.trade.exchangePlatform} does not know it after ${misses} look-ups`,
    ],
    attempt: { lookupMisses: misses, finishedAt: deps.clock.now(), doubt: null },
  });
  return nextNow;
}
