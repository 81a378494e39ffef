import { D, toPlain } from '#domain/decimal.ts';
import type { Exchange, ExchangeAccount } from '#server/exchanges/exchange.ts';
import type { positionCloses } from '#server/platform/db/schema.ts';
import { asUnreadable } from './close-position.ts';

type ClosingOrderRow = typeof positionCloses.$inferSelect;

/**
 * What these closing orders have filled together, in units of the token, as the exchange says. Null when that is not
 * known: the exchange knows one of them no longer, or shows something else in its place. Throws an `ExchangeError` when
 * it does not answer.
 */
export async function filledByCloses(
  exchange: Exchange,
  { account, token, closes }: { account: ExchangeAccount; token: string; closes: readonly ClosingOrderRow[] },
): Promise<string | null> {
  let filled = D(0);
  for (const close of closes) {
    const order = { token, clientOrderId: close.clientOrderId };
    const report = await exchange.findOrder(account, order, { priority: 'protect' }).catch(asUnreadable);
    const isTold = report !== null && report !== 'unreadable';
    const quantity = isTold ? report.filledQuantity : shownByPosition(close, report);
    if (quantity === null) return null;
    filled = filled.plus(quantity);
  }
  return toPlain(filled);
}

/** What the position showed when the order was settled; nothing of one that the exchange never had. */
function shownByPosition(
  { leftQuantity, quantity, orderId }: ClosingOrderRow,
  report: 'unreadable' | null,
): string | null {
  if (leftQuantity !== null) return quantity;
  return report === null && orderId === null ? '0' : null;
}
