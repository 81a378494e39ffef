import { DOUBT_DEADLINE_MS } from '#domain/sizing/trading-constants.ts';
import { isDue } from '#server/platform/clock.ts';
import {
  DOUBT_WAIT_MS,
  findReport,
  findTrace,
  holdUnclear,
  isKnown,
  isUnreadable,
  leaveInDoubt,
  lookUpWaitMs,
  newsOfDoubt,
  sendCancel,
} from './look-up-attempt.ts';
import { takeFound } from './take-found.ts';
import { takeUnreachable, takeUnreadable } from './take-unreadable.ts';
import { later, nextNow, record, type StepResult, type TradeWork, waitsOf } from './trade-work.ts';

const UNREACHABLE_WAIT_MS = 1_000;
const MISSED_WAIT_MS = 1_000;
/** Misses after which an accepted order is cancelled by its id even so. */
const MISSES_BEFORE_CANCEL = 5;
/** The same for an order in an unknown state, or one that cannot be read: it may be open. */
const UNCLEAR_BEFORE_CANCEL_MS = 5_000;
/** Misses, and time after its cancel, after which the exchange may have forgotten the order. */
const MISSES_BEFORE_GONE = 3;
const GONE_AFTER_MS = 60_000;

/**
 * Verifies an open order when its wait is over, and cancels the unfilled rest. `mustEnd`: without the wait, because
 * its fill has no stop and must be closed.
 */
export async function verifyAttempt(work: TradeWork, { mustEnd }: { mustEnd: boolean }): Promise<StepResult> {
  const { deps, attempt } = work;
  const now = deps.clock.now();
  const dueAt = attempt.verifyAt ?? now;
  const { firstMs, secondMs } = waitsOf(deps.config, work.trade.profile);
  if (!mustEnd && !isDue({ dueAt, longestWaitMs: Math.max(firstMs, secondMs), now }))
    return { next: 'later', at: dueAt };
  const report = await findReport(work, { priority: mustEnd ? 'look-up' : 'follow' });
  if (report === 'unreachable') {
    return takeUnreachable(work, { waitMs: UNREACHABLE_WAIT_MS, asked: 'find-order' });
  }
  const name = `Attempt ${attempt.attempt}`;
  if (report === null && attempt.lookupMisses < MISSES_BEFORE_CANCEL) {
    await record(work, {
      event: 'lookup_missed',
      lines: [`${name}: not found while verifying`],
      attempt: { lookupMisses: attempt.lookupMisses + 1 },
    });
    return later(work, MISSED_WAIT_MS);
  }
  const found = report === null || isUnreadable(report) ? null : report;
  const isUnclear = report !== null && (found === null || !isKnown(found));
  if (isUnclear && !mustEnd) {
    const unclearMs = deps.clock.now().getTime() - dueAt.getTime();
    if (unclearMs < UNCLEAR_BEFORE_CANCEL_MS) {
      return isUnreadable(report) ? takeUnreadable(work, report) : holdUnclear(work, report);
    }
  }
  if (found !== null && isKnown(found) && (found.state === 'filled' || found.state === 'cancelled')) {
    return takeFound(work, found, { text: `${name}: verified`, verifyNext: dueAt });
  }
  await cancel(work, {
    text: `not filled in time (${found?.filledQuantity ?? '0'} of ${attempt.quantity})`,
    filledQuantity: found?.filledQuantity ?? attempt.filledQuantity,
  });
  return later(work, waitsOf(deps.config, work.trade.profile).cancelMs);
}

/**
 * Cancels an open order for which new entries are stopped. Nothing is read before: behind the requests of a fan-out its
 * reads would take longer than a stop may. What it has filled is read by the next job, behind the cancels of others.
 */
export async function cancelStopped(work: TradeWork): Promise<StepResult> {
  const { filledQuantity, quantity } = work.attempt;
  const why = work.closedSince ?? 'new entries are stopped';
  await cancel(work, {
    text: `${why} (${filledQuantity} of ${quantity} known to be filled)`,
    filledQuantity,
  });
  return later(work, 0);
}

async function cancel(
  work: TradeWork,
  { text, filledQuantity }: { text: string; filledQuantity: string },
): Promise<void> {
  const now = work.deps.clock.now();
  await record(work, {
    event: 'cancel_requested',
    lines: [`Attempt ${work.attempt.attempt}: ${text}, cancelling`],
    // Its wait is over: from here on counts how long it stays open after its cancel.
    attempt: { cancelRequestedAt: now, verifyAt: now, filledQuantity, lookupMisses: 0 },
  });
  await sendCancel(work);
}

/**
 * Reads the order after its cancel: only its final state says what was filled. Cancels an order that is still open
 * again; nothing follows before it has ended (I6).
 */
export async function confirmCancel(work: TradeWork): Promise<StepResult> {
  const { deps, attempt } = work;
  const cancelMs = waitsOf(deps.config, work.trade.profile).cancelMs;
  const dueAt = new Date((attempt.cancelRequestedAt ?? deps.clock.now()).getTime() + cancelMs);
  if (!isDue({ dueAt, longestWaitMs: cancelMs, now: deps.clock.now() })) return { next: 'later', at: dueAt };
  const report = await findReport(work);
  if (report === 'unreachable') {
    return takeUnreachable(work, { waitMs: UNREACHABLE_WAIT_MS, asked: 'find-order' });
  }
  const name = `Attempt ${attempt.attempt}`;
  if (report === null) return settleMissing(work);
  if (isUnreadable(report) || !isKnown(report)) {
    // The order may be open, and the cancel may not have arrived.
    await sendCancel(work);
    return isUnreadable(report) ? takeUnreadable(work, report) : holdUnclear(work, report);
  }
  if (report.state === 'filled' || report.state === 'cancelled') {
    return takeFound(work, report, { text: `${name}: after the cancel`, verifyNext: dueAt });
  }
  return cancelAgain(work, report.filledQuantity);
}

/** An order that stays open is cancelled for as long as it does; after a while an administrator sees it (I7). */
async function cancelAgain(work: TradeWork, filledQuantity: string): Promise<StepResult> {
  const { deps, attempt, trade } = work;
  const now = deps.clock.now();
  const isLong = now.getTime() - (attempt.verifyAt ?? now).getTime() >= DOUBT_DEADLINE_MS;
  const doubt = isLong ? `${trade.exchangePlatform} still shows the order as open after its cancel` : null;
  const isNews = doubt !== null && attempt.doubt !== doubt;
  const text = isNews ? `in doubt: ${doubt}, cancelling again` : 'still open, cancelling again';
  await record(work, {
    event: 'cancel_requested',
    lines: doubt === null || isNews ? [`Attempt ${attempt.attempt}: ${text}`] : [],
    attempt: { cancelRequestedAt: now, filledQuantity, lookupMisses: 0, doubt, finishedAt: null },
    ...(isNews ? { notices: newsOfDoubt(work, doubt) } : {}),
  });
  if (isNews) {
    deps.log.warn({ tradeId: trade.id, userId: trade.userId, reason: doubt }, 'an order stays in doubt');
  }
  await sendCancel(work);
  if (doubt !== null) return later(work, DOUBT_WAIT_MS);
  return later(work, Math.max(waitsOf(deps.config, trade.profile).cancelMs, MISSED_WAIT_MS));
}

/**
 * The exchange does not know an accepted order during its cancel: the look-up is early, or the order forgotten. If the
 * order is not among the open orders either, the position shows whether it filled more than was seen.
 */
async function settleMissing(work: TradeWork): Promise<StepResult> {
  const { deps, attempt, trade } = work;
  const now = deps.clock.now();
  const name = `Attempt ${attempt.attempt}`;
  const misses = attempt.lookupMisses + 1;
  const missingMs = now.getTime() - (attempt.cancelRequestedAt ?? now).getTime();
  if (misses < MISSES_BEFORE_GONE || missingMs < GONE_AFTER_MS) {
    await record(work, {
      event: 'lookup_missed',
      lines: [`${name}: not found while confirming the cancel`],
      attempt: { lookupMisses: misses },
    });
    return later(work, lookUpWaitMs(misses));
  }
  const found = await findTrace(work, { isAccepted: true });
  switch (found.trace) {
    case 'unreachable':
      return takeUnreachable(work, { waitMs: UNREACHABLE_WAIT_MS, asked: found.asked });
    case 'open':
      return cancelAgain(work, attempt.filledQuantity);
    case 'doubt':
      return leaveInDoubt(work, { doubt: found.doubt, misses });
    case 'none':
      await record(work, {
        event: 'cancel_confirmed',
        lines: [
          `${name}: ended with ${attempt.filledQuantity} filled, ${trade.exchangePlatform} neither knows it any more nor has it open`,
        ],
        attempt: { lookupMisses: misses, finishedAt: now, doubt: null },
      });
      return nextNow;
  }
}
