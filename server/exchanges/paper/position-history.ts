import { D, type Decimal } from '#domain/decimal.ts';
import type { Side } from './book.ts';

export interface HistoryFill {
  id: bigint;
  orderId: bigint;
  token: string;
  side: Side;
  price: Decimal;
  size: Decimal;
  fee: Decimal;
  profit: Decimal;
  at: Date;
}

/** A position from its first fill until it was flat again. */
export interface PastPosition {
  id: bigint;
  token: string;
  side: 'long' | 'short';
  openedSize: Decimal;
  openedValue: Decimal;
  closedSize: Decimal;
  closedValue: Decimal;
  profit: Decimal;
  openFee: Decimal;
  closeFee: Decimal;
  /** The order that closed the last of it. */
  closedBy: bigint;
  openedAt: Date;
  closedAt: Date;
}

/** The closed positions that an account's fills (oldest first) come to: nothing is stored twice. */
export function closedPositions(fills: Iterable<HistoryFill>): PastPosition[] {
  const open = new Map<string, PastPosition>();
  const closed: PastPosition[] = [];
  for (const fill of fills) {
    const held = open.get(fill.token);
    const side = fill.side === 'buy' ? 'long' : 'short';
    if (!held || held.side === side) {
      open.set(fill.token, opened(held ?? newPosition(fill, side), fill, fill.size));
      continue;
    }
    const left = held.openedSize.minus(held.closedSize);
    const closing = fill.size.gt(left) ? left : fill.size;
    held.closedSize = held.closedSize.plus(closing);
    held.closedValue = held.closedValue.plus(closing.times(fill.price));
    held.profit = held.profit.plus(fill.profit);
    held.closeFee = held.closeFee.plus(feeOf(fill, closing));
    held.closedAt = fill.at;
    held.closedBy = fill.orderId;
    if (closing.lt(left)) continue;
    open.delete(fill.token);
    closed.push(held);
    // What went beyond it opened the opposite position with the same fill.
    if (closing.lt(fill.size)) {
      open.set(fill.token, opened(newPosition(fill, side), fill, fill.size.minus(closing)));
    }
  }
  return closed;
}

function opened(position: PastPosition, fill: HistoryFill, size: Decimal): PastPosition {
  return {
    ...position,
    openedSize: position.openedSize.plus(size),
    openedValue: position.openedValue.plus(size.times(fill.price)),
    openFee: position.openFee.plus(feeOf(fill, size)),
  };
}

/** The fee is a rate of the value, so a part of the fill bears its part of it. */
const feeOf = (fill: HistoryFill, size: Decimal) => fill.fee.times(size).div(fill.size);

const newPosition = ({ id, orderId, token, at }: HistoryFill, side: PastPosition['side']): PastPosition => ({
  id,
  token,
  side,
  openedSize: D(0),
  openedValue: D(0),
  closedSize: D(0),
  closedValue: D(0),
  profit: D(0),
  openFee: D(0),
  closeFee: D(0),
  closedBy: orderId,
  openedAt: at,
  closedAt: at,
});
