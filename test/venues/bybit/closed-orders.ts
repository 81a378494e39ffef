import { D, type Decimal, smallest } from '#domain/decimal.ts';
import type { Side } from '#server/exchanges/paper/book.ts';
import type { StoredFill } from '#server/exchanges/paper/paper-queries.ts';

/** The part of a position that one order closed, in any number of fills. */
export interface ClosedOrder {
  orderId: bigint;
  /** Id of its first closing fill: newer rows have larger ids. */
  id: bigint;
  token: string;
  side: Side;
  size: Decimal;
  entryValue: Decimal;
  exitValue: Decimal;
  /** Before fees. */
  profit: Decimal;
  /** The share of the opening fees for the closed size. */
  openFee: Decimal;
  closeFee: Decimal;
  fills: number;
  /** Time of its last fill. */
  createdAt: Date;
}

interface Held {
  side: Side;
  size: Decimal;
  value: Decimal;
  fee: Decimal;
}

/** Derives the closings from an account's fills (oldest first): one per closing order, oldest first. */
export function closedOrders(fills: Iterable<StoredFill>): ClosedOrder[] {
  const held = new Map<string, Held>();
  const closed = new Map<bigint, ClosedOrder>();
  for (const fill of fills) {
    const position = held.get(fill.token);
    const closing = position && position.side !== fill.side ? smallest(position.size, fill.size) : D(0);
    if (position && closing.gt(0)) {
      const part = closing.div(position.size);
      const [value, openFee] = [position.value.times(part), position.fee.times(part)];
      const entry = closed.get(fill.orderId) ?? newClosing(fill);
      closed.set(fill.orderId, {
        ...entry,
        size: entry.size.plus(closing),
        entryValue: entry.entryValue.plus(value),
        exitValue: entry.exitValue.plus(closing.times(fill.price)),
        profit: entry.profit.plus(fill.profit),
        openFee: entry.openFee.plus(openFee),
        closeFee: entry.closeFee.plus(feeOf(fill, closing)),
        fills: entry.fills + 1,
        createdAt: fill.createdAt,
      });
      held.set(fill.token, {
        ...position,
        size: position.size.minus(closing),
        value: position.value.minus(value),
        fee: position.fee.minus(openFee),
      });
    }
    const opening = fill.size.minus(closing);
    if (opening.gt(0)) held.set(fill.token, opened(held.get(fill.token), fill, opening));
  }
  return [...closed.values()];
}

function opened(before: Held | undefined, fill: StoredFill, size: Decimal): Held {
  const base = before && before.side === fill.side ? before : { size: D(0), value: D(0), fee: D(0) };
  return {
    side: fill.side,
    size: base.size.plus(size),
    value: base.value.plus(size.times(fill.price)),
    fee: base.fee.plus(feeOf(fill, size)),
  };
}

/** The fee is proportional to the value, so a part of the fill bears its share of the fee. */
const feeOf = (fill: StoredFill, size: Decimal) => fill.fee.times(size).div(fill.size);

const newClosing = ({ orderId, id, token, side, createdAt }: StoredFill): ClosedOrder => ({
  orderId,
  id,
  token,
  side,
  size: D(0),
  entryValue: D(0),
  exitValue: D(0),
  profit: D(0),
  openFee: D(0),
  closeFee: D(0),
  fills: 0,
  createdAt,
});
