import { and, eq, isNull } from 'drizzle-orm';
import { nextAttemptState } from '#domain/orders/order-lifecycle.ts';
import { surplusOf } from '#domain/orders/surplus.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import { type AttemptRow, addTimeline } from '#server/engine/records/trades.store.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { orderAttempts } from '#server/platform/db/schema.ts';
import { assertHeld } from '#server/platform/jobs/leases.ts';
import { nextNow, type StepResult, type TradeWork } from './trade-work.ts';

/*
 * An order may fill after its look-up and the position have shown it as ended.
 *  I3, I6 the position is read once more when the request of a second attempt may leave. While it shows more than the
 *    known fills, nothing leaves: the second attempt is withdrawn, and the first is looked up again.
 */

/** Why a second attempt does not leave. `late-fill`: the position shows more than the orders before have filled. */
export type SecondRefused =
  | { ended: 'late-fill'; text: string }
  | { ended: 'denied'; denial: Denial }
  | { ended: 'unread'; error: ExchangeError };

/** Reads the position for a second attempt whose request may leave now; null when it shows just the known fills. */
export async function refuseSecond(work: TradeWork): Promise<SecondRefused | null> {
  const { account, attempt, attempts, exchange, onCall, trade } = work;
  if (attempt.attempt === 1 || account === null) return null;
  const { side, token, exchangePlatform } = trade;
  try {
    const held = await exchange.fetchPosition(account, token, { onCall, priority: 'place' });
    if (held !== null && held.side !== sideOpenedBy(side)) {
      return { ended: 'denied', denial: deny('foreign_position_held', { token, side: held.side }) };
    }
    const before = attempts.filter(({ id }) => id !== attempt.id);
    const surplus = surplusOf({ side, attempts: before, held, seen: trade.protectedQuantity });
    if (surplus === null) return null;
    const text = `${exchangePlatform} shows a position of ${surplus.shown} ${token}, and only ${surplus.known} of it is known to be filled`;
    return { ended: 'late-fill', text };
  } catch (error) {
    if (error instanceof ExchangeError) return { ended: 'unread', error };
    throw error;
  }
}

/** Takes a second attempt back whose request never left: its first attempt is looked up again, as before its end. */
export async function withdrawSecond(work: TradeWork, text: string): Promise<StepResult> {
  const { attempt, attempts, deps, lease, trade } = work;
  const first = attempts.find((one) => one.attempt === 1);
  if (first === undefined) throw new Error(`trade ${trade.id} has no first attempt`);
  const now = deps.clock.now();
  const reopened = {
    state: nextAttemptState(first.state, 'found_unclear'),
    cancelRequestedAt: first.cancelRequestedAt ?? now,
    // From here on counts how long its report and the position disagree.
    finishedAt: now,
    lookupMisses: 0,
  } satisfies Partial<AttemptRow>;
  await deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    const isUnsent = and(eq(orderAttempts.state, 'planned'), isNull(orderAttempts.submittedAt));
    await tx.delete(orderAttempts).where(and(eq(orderAttempts.id, attempt.id), isUnsent));
    await tx.update(orderAttempts).set(reopened).where(eq(orderAttempts.id, first.id));
    const line = `Attempt 2: not sent, looking attempt 1 up again: ${text}`;
    await addTimeline(tx, { tradeId: trade.id, at: now, text: line });
  });
  attempts.splice(attempts.indexOf(attempt), 1);
  Object.assign(first, reopened);
  return nextNow;
}
