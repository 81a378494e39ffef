import { D, toPlain } from '#domain/decimal.ts';
import { orderAttempts } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { assertHeld } from '#server/platform/jobs/leases.ts';
import { clientOrderId } from './client-order-id.ts';
import type { TradeWork } from './trade-work.ts';
import { addTimeline } from './trades.store.ts';

/**
 * After a restore of the database (I3, I6): between the backup and the loss a second attempt may have been sent that
 * nobody remembers. Its client order id is known all the same, so it is committed as in doubt: it is looked up, taken
 * over if the exchange has it, and never sent.
 */
export async function doubtSecondAttempt(work: TradeWork, filledQuantity: string): Promise<void> {
  const { deps, trade, lease } = work;
  const now = deps.clock.now();
  await deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    await tx.insert(orderAttempts).values({
      id: timeOrderedId(),
      tradeId: trade.id,
      attempt: 2,
      clientOrderId: clientOrderId(trade.id, 2),
      price: trade.entryPrice,
      quantity: toPlain(D(trade.plannedQuantity).minus(filledQuantity)),
      state: 'unknown',
      submittedAt: now,
    });
    await addTimeline(tx, {
      tradeId: trade.id,
      at: now,
      text: 'The database was restored: looking for a second attempt that may have been sent; none is sent now',
    });
  });
}
