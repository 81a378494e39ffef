import { D } from '#domain/decimal.ts';
import { deny } from '#domain/workflow/denials.ts';
import { startHalt } from '#server/admin/halts/trading-halts.store.ts';
import { addTimeline } from '#server/engine/records/trades.store.ts';
import { assertHeld } from '#server/platform/jobs/leases.ts';
import { positionOf, type SafeFinding } from './record-protection.ts';
import type { TradeWork } from './trade-work.ts';

/*
 * Orders whose account was read before the signal: nobody looked whether the token is still flat. So the order leaves
 * soon after the reading or the position is read again, and the first position seen after the fill must be that fill.
 */

/** An order leaves at most this long after its account was read. */
export const READING_LASTS_MS = 15_000;
/** The time from the last look at the reading until the order leaves. */
const LEFT_TO_SEND_MS = 1_000;

/** Whether an order can be based on a reading of this time. */
export const isYoung = (readAt: Date, now: Date): boolean =>
  now.getTime() - readAt.getTime() <= READING_LASTS_MS - LEFT_TO_SEND_MS;

/** When the account was read, if that was before the signal and this is the first order since. */
export const readAheadAt = ({ trade, attempt }: Pick<TradeWork, 'trade' | 'attempt'>): Date | null =>
  attempt.attempt === 1 ? trade.accountReadAt : null;

/** Why the order is not sent: a position that was opened since the reading. Null if the token is still flat. */
export async function denyOpenedSince({
  account,
  exchange,
  onCall,
  trade,
}: TradeWork): Promise<string | null> {
  if (account === null) return null;
  const { token } = trade;
  const position = await exchange.fetchPosition(account, token, { onCall, priority: 'prepare' });
  return position === null ? null : deny('foreign_position_held', { token, side: position.side }).reason;
}

/**
 * Halts the user if the position is not what the trade's orders have filled: somebody has traded by hand between the
 * reading and the order. The position keeps its stop and is not touched.
 */
export async function haltOnSurplus(
  work: TradeWork,
  { filled, safe }: { filled: string; safe: SafeFinding | null },
): Promise<void> {
  const { deps, lease, trade } = work;
  const { token, exchangePlatform, userId, id: tradeId } = trade;
  if (trade.accountReadAt === null) return;
  const held = safe?.found === 'protected' ? safe.quantity : trade.protectedQuantity;
  const isOther = safe?.found === 'flat' && safe.isOther === true;
  if (!isOther && !(safe?.found !== 'flat' && held !== null && D(held).gt(filled))) return;
  const shown = isOther ? 'is on the other side' : `is ${held} ${token}`;
  const reason = `The ${token} position on ${exchangePlatform} ${shown}, and the order has filled ${filled}: somebody has traded it by hand`;
  const now = deps.clock.now();
  const isNew = await deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    const started = await startHalt(tx, {
      ...positionOf(work),
      tradeId,
      kind: 'surplus',
      reason,
      now,
      audit: deps.audit,
    });
    const text = `Trading of this user is halted: ${reason}`;
    if (started) await addTimeline(tx, { tradeId, at: now, text });
    return started;
  });
  if (isNew) {
    deps.log.error(
      { tradeId, userId, token, reason },
      'trading of a user is halted: a position has a surplus',
    );
  }
}
