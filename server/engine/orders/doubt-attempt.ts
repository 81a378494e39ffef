import { D } from '#domain/decimal.ts';
import { DOUBT_DEADLINE_MS } from '#domain/sizing/trading-constants.ts';
import type { OrderReport } from '#server/exchanges/exchange.ts';
import { later, recordEvent, reported, type StepResult, type TradeWork } from './trade-work.ts';

/*
 * Orders that what the exchange answers does not settle.
 *  I2, I6 nothing is sent for one: it is looked up on, and the first answer that settles it does.
 *  I7 an administrator sees why it is in doubt, and may write it off.
 */

const UNCLEAR_WAIT_MS = 2_000;
/** So often one is asked about that has been in doubt for long. */
const DOUBT_WAIT_MS = 30_000;

/** The exchange names the order in a state that is new to us: it is there, so no look-up has missed it. */
export async function holdUnclear(work: TradeWork, report: OrderReport): Promise<StepResult> {
  const { attempt, deps, trade } = work;
  const since = attempt.submittedAt ?? trade.createdAt;
  const isLong = deps.clock.now().getTime() - since.getTime() >= DOUBT_DEADLINE_MS;
  const text = `${trade.exchangePlatform} names the order in a state that is not known here`;
  const doubt = isLong ? text : null;
  const isNews =
    attempt.orderId !== report.orderId ||
    attempt.doubt !== doubt ||
    !D(attempt.filledQuantity).eq(report.filledQuantity);
  if (isNews) {
    await recordEvent(work, 'found_unclear', {
      text: `Attempt ${attempt.attempt}: ${isLong ? 'in doubt: ' : ''}${text}`,
      changes: { ...reported(report), doubt },
    });
  }
  return later(work, isLong ? DOUBT_WAIT_MS : UNCLEAR_WAIT_MS);
}

/** It is not found, and something speaks for it all the same. */
export async function leaveInDoubt(
  work: TradeWork,
  { doubt, misses }: { doubt: string; misses: number },
): Promise<StepResult> {
  const { attempt, deps, trade } = work;
  if (attempt.doubt !== doubt) {
    await recordEvent(work, 'lookup_missed', {
      text: `Attempt ${attempt.attempt}: in doubt: ${doubt}`,
      changes: { doubt, lookupMisses: misses },
    });
    deps.log.warn({ tradeId: trade.id, userId: trade.userId, reason: doubt }, 'an order stays in doubt');
  }
  return later(work, DOUBT_WAIT_MS);
}
