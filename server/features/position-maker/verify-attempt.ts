import { ExchangeError } from '#server/exchanges/exchange.ts';
import { findReport, lookUpWaitMs, recordFound } from './look-up-attempt.ts';
import { goOn, later, recordEvent, type StepResult, type TradeWork, waitsOf } from './trade-work.ts';

const UNREACHABLE_WAIT_MS = 1_000;
const MISSED_WAIT_MS = 1_000;
/** An accepted order that stays unfindable this often is cancelled by its id all the same. */
const MISSES_BEFORE_CANCEL = 5;

/**
 * Looks at an open order when its wait is over: filled, or to be cancelled for what is not. `atOnce`: without waiting,
 * because what it has filled has no stop and must be closed.
 */
export async function verifyAttempt(work: TradeWork, { atOnce }: { atOnce: boolean }): Promise<StepResult> {
  const { deps, attempt } = work;
  const dueAt = attempt.verifyAt ?? deps.clock.now();
  if (dueAt > deps.clock.now() && !atOnce) return { next: 'later', at: dueAt };
  const report = await findReport(work);
  if (report === 'unreachable') return later(work, UNREACHABLE_WAIT_MS);
  const name = `Attempt ${attempt.attempt}`;
  const isMissing = report === null || report.state === 'unknown';
  if (isMissing && attempt.lookupMisses < MISSES_BEFORE_CANCEL) {
    await recordEvent(work, 'lookup_missed', {
      text: `${name}: not found while verifying`,
      changes: { lookupMisses: attempt.lookupMisses + 1 },
    });
    return later(work, MISSED_WAIT_MS);
  }
  if (report !== null && (report.state === 'filled' || report.state === 'cancelled')) {
    await recordFound(work, report, `${name}: verified`, dueAt);
    return goOn;
  }
  await recordEvent(work, 'cancel_requested', {
    text: `${name}: not filled in time (${report?.filledQuantity ?? '0'} of ${attempt.quantity}), cancelling`,
    changes: {
      cancelRequestedAt: deps.clock.now(),
      filledQuantity: report?.filledQuantity ?? attempt.filledQuantity,
    },
  });
  await sendCancel(work);
  return later(work, waitsOf(deps.config, work.trade.profile).cancelMs);
}

/**
 * Reads the order once more after the cancel: only its end says what was filled. A fill that beat the cancel counts;
 * an order that is still open is cancelled again; nothing follows before it has ended (I6).
 */
export async function confirmCancel(work: TradeWork): Promise<StepResult> {
  const { deps, attempt } = work;
  const cancelMs = waitsOf(deps.config, work.trade.profile).cancelMs;
  const dueAt = new Date((attempt.cancelRequestedAt ?? deps.clock.now()).getTime() + cancelMs);
  if (dueAt > deps.clock.now()) return { next: 'later', at: dueAt };
  const report = await findReport(work);
  if (report === 'unreachable') return later(work, UNREACHABLE_WAIT_MS);
  const name = `Attempt ${attempt.attempt}`;
  if (report === null || report.state === 'unknown') {
    await recordEvent(work, 'lookup_missed', {
      text: `${name}: not found while confirming the cancel`,
      changes: { lookupMisses: attempt.lookupMisses + 1 },
    });
    return later(work, lookUpWaitMs(attempt.lookupMisses + 1));
  }
  if (report.state === 'filled' || report.state === 'cancelled') {
    await recordFound(work, report, `${name}: after the cancel`, dueAt);
    return goOn;
  }
  await recordEvent(work, 'cancel_requested', {
    text: `${name}: still open, cancelling again`,
    changes: { cancelRequestedAt: deps.clock.now(), filledQuantity: report.filledQuantity },
  });
  await sendCancel(work);
  return later(work, Math.max(cancelMs, MISSED_WAIT_MS));
}

/** Whatever it answers, the order is read afterwards. */
async function sendCancel({ account, exchange, trade, attempt, onCall }: TradeWork): Promise<void> {
  if (account === null) return;
  try {
    await exchange.cancelOrder(
      account,
      { token: trade.token, clientOrderId: attempt.clientOrderId },
      { onCall },
    );
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
  }
}
