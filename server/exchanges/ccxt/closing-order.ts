import { isPositive } from '#domain/decimal.ts';
import type { ClosedPosition, ClosingOrder } from '../exchange.ts';

/** An order of the time of a position, as far as it tells whether that order ended it. */
export interface PastOrder {
  symbol: string;
  side: 'buy' | 'sell' | null;
  filledQuantity: string;
  at: Date;
  canOnlyReduce: boolean;
  clientOrderId: string;
  source: ClosingOrder['source'];
}

/** Orders and positions are stamped by different parts of the exchange. */
const STAMP_SLACK_MS = 5_000;

/**
 * In one-way mode what filled on the other side while the position was open has reduced it; the one nearest to its end
 * ended it. An order that can only reduce comes first: the opposite position may have been opened a moment later.
 */
export function closingOrderAmong(orders: PastOrder[], position: ClosedPosition): ClosingOrder | null {
  const opposite = orders
    .filter(({ symbol }) => symbol === `${position.token}USDT`)
    .filter(({ side }) => side === (position.side === 'long' ? 'sell' : 'buy'))
    .filter(({ filledQuantity }) => isPositive(filledQuantity))
    .filter(({ at }) => at.getTime() >= position.openedAt.getTime() - STAMP_SLACK_MS)
    .filter(({ at }) => at.getTime() <= position.closedAt.getTime() + STAMP_SLACK_MS);
  const reducing = opposite.filter(({ canOnlyReduce }) => canOnlyReduce);
  const apart = ({ at }: PastOrder) => Math.abs(at.getTime() - position.closedAt.getTime());
  const [last] = (reducing.length > 0 ? reducing : opposite).sort((a, b) => apart(a) - apart(b));
  return last === undefined ? null : { clientOrderId: last.clientOrderId, source: last.source };
}
