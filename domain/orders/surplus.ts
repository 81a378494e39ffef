import { D, largest, toPlain } from '../decimal.ts';
import type { Action } from '../sizing/trend.ts';

/** One order of a trade: quantities in units of the token, prices in USDT. */
interface OrderedAttempt {
  price: string;
  quantity: string;
  /** What the exchange's reports of the order have shown. */
  filledQuantity: string;
  averagePrice: string | null;
}

/** The fill that explains a position completely: the last order's filled quantity and average price. */
export interface AdoptedFill {
  filledQuantity: string;
  /** Null where it cannot be computed. */
  averagePrice: string | null;
}

export interface Surplus {
  /** The sum of the known fills. */
  known: string;
  /** The most that was seen of the position: `held` now, or earlier. */
  shown: string;
  isHeld: boolean;
  /** Null: not every part of it can be the last order's fill. */
  adopted: AdoptedFill | null;
}

/**
 * What a trade's position has shown beyond the known fills of its orders (I3); null when the fills explain it. The trade
 * began without a position, so the rest may be a fill that the last order's report does not show yet. It is adopted if
 * the position still holds it, the order left as much open, and the average price is within the orders' limits.
 */
export function surplusOf(input: {
  side: Action;
  /** Oldest first; the last one has ended. */
  attempts: readonly OrderedAttempt[];
  /** The open position on the trade's side, as read from the exchange after the last report. */
  held: { quantity: string; entryPrice: string } | null;
  /** The largest quantity that was seen with its stop; null when none was. */
  seen: string | null;
}): Surplus | null {
  const { side, attempts, held, seen } = input;
  const last = attempts.at(-1);
  if (last === undefined) return null;
  const known = attempts.reduce((sum, { filledQuantity }) => sum.plus(filledQuantity), D(0));
  const shown = largest(held?.quantity ?? 0, seen ?? 0);
  if (shown.lte(known)) return null;
  const isHeld = held !== null && shown.eq(held.quantity);
  const filled = shown.minus(known).plus(last.filledQuantity);
  const isOrdered = filled.lte(last.quantity);
  const adopted =
    isHeld && isOrdered && isWithinLimits(side, held.entryPrice, attempts)
      ? { filledQuantity: toPlain(filled), averagePrice: averageOfLast(attempts, { held, filled }) }
      : null;
  return { known: toPlain(known), shown: toPlain(shown), isHeld, adopted };
}

/** A limit order never fills beyond its limit: such a position has another source. */
export function isWithinLimits(
  side: Action,
  entryPrice: string,
  attempts: readonly Pick<OrderedAttempt, 'price'>[],
): boolean {
  return attempts.some(({ price }) => (side === 'buy' ? D(entryPrice).lte(price) : D(entryPrice).gte(price)));
}

function averageOfLast(
  attempts: readonly OrderedAttempt[],
  { held, filled }: { held: { quantity: string; entryPrice: string }; filled: ReturnType<typeof D> },
): string | null {
  const earlier = attempts.slice(0, -1).filter(({ filledQuantity }) => D(filledQuantity).gt(0));
  if (earlier.some(({ averagePrice }) => averagePrice === null)) return null;
  const value = earlier.reduce(
    (rest, { filledQuantity, averagePrice }) => rest.minus(D(filledQuantity).times(averagePrice ?? 0)),
    D(held.quantity).times(held.entryPrice),
  );
  return value.gt(0) ? toPlain(value.div(filled).toSignificantDigits(15)) : null;
}
