import { D } from '../decimal.ts';

/** The stop loss and take profit that an exchange holds for a position. */
interface Held {
  stopLoss: string | null;
  takeProfit: string | null;
}

interface Position {
  side: 'long' | 'short';
  entryPrice: string;
  /** Null when the exchange does not tell it. */
  markPrice: string | null;
}

/**
 * What an open position of ours lacks (I4). `close`: it has no stop, and the price is at the planned stop or beyond
 * it, so none can be placed. `stop`: one can. `target`: only the take profit is missing, and it can be placed.
 */
export type ProtectionNeed = 'nothing' | 'target' | 'stop' | 'close';

interface Protected extends Position {
  held: Held;
  planned: { stopLoss: string; takeProfit: string };
}

/** The need, by what stands of its protection and by the price that the exchange marks it with. */
export function protectionNeed(input: Protected): ProtectionNeed {
  const { planned, markPrice } = input;
  const held = standingProtection(input);
  if (held.stopLoss === null) {
    return hasReached('stop', input, markPrice, planned.stopLoss) ? 'close' : 'stop';
  }
  const isTargetMissing =
    held.takeProfit === null && !hasReached('target', input, markPrice, planned.takeProfit);
  return isTargetMissing ? 'target' : 'nothing';
}

/** The planned prices that are to be placed: a target that the price has reached would trigger at once. */
export function missingProtection(input: Protected): Held {
  const { planned, markPrice } = input;
  const held = standingProtection(input);
  const needsTarget = held.takeProfit === null && !hasReached('target', input, markPrice, planned.takeProfit);
  return {
    stopLoss: held.stopLoss === null ? planned.stopLoss : null,
    takeProfit: needsTarget ? planned.takeProfit : null,
  };
}

/**
 * What of it protects the position. A stop or target that the price is beyond is none: it would have triggered, and may
 * be left of a position the other way. But one on its side of the entry is being executed when the price has just
 * reached it, and a stop that followed the price is beyond the entry and not the price.
 */
export function standingProtection(input: Position & { held: Held }): Held {
  const { entryPrice, markPrice, held } = input;
  const standing = (what: 'stop' | 'target', price: string | null) => {
    const isBeyond = (of: string | null) => price !== null && hasReached(what, input, of, price);
    return isBeyond(entryPrice) && isBeyond(markPrice) ? null : price;
  };
  return {
    stopLoss: standing('stop', held.stopLoss),
    takeProfit: standing('target', held.takeProfit),
  };
}

/** Whether a position's stop or target at `price` would trigger at `reached`; at a price that is not told it would not. */
function hasReached(
  what: 'stop' | 'target',
  { side }: Pick<Position, 'side'>,
  reached: string | null,
  price: string,
): boolean {
  if (reached === null) return false;
  const isBelow = (side === 'long') === (what === 'stop');
  return isBelow ? D(reached).lte(price) : D(reached).gte(price);
}
