import { D } from './decimal.ts';

/** The stop loss and take profit that an exchange holds for a position. */
interface Held {
  stopLoss: string | null;
  takeProfit: string | null;
}

/**
 * What an open position of ours lacks (I4). `close`: it has no stop, and the price is at the planned stop or beyond
 * it, so none can be placed. `stop`: one can. `target`: only the take profit is missing, and it can be placed.
 */
export type ProtectionNeed = 'nothing' | 'target' | 'stop' | 'close';

export function protectionNeed(input: {
  side: 'long' | 'short';
  /** Null when the exchange does not tell it. */
  markPrice: string | null;
  held: Held;
  planned: { stopLoss: string; takeProfit: string };
}): ProtectionNeed {
  const { held, planned } = input;
  if (held.stopLoss === null) return hasReached('stop', input, planned.stopLoss) ? 'close' : 'stop';
  const isTargetMissing = held.takeProfit === null && !hasReached('target', input, planned.takeProfit);
  return isTargetMissing ? 'target' : 'nothing';
}

/** The planned prices that are to be placed: a target that the price has reached would trigger at once. */
export function missingProtection(input: Parameters<typeof protectionNeed>[0]): Held {
  const { held, planned } = input;
  const needsTarget = held.takeProfit === null && !hasReached('target', input, planned.takeProfit);
  return {
    stopLoss: held.stopLoss === null ? planned.stopLoss : null,
    takeProfit: needsTarget ? planned.takeProfit : null,
  };
}

function hasReached(
  what: 'stop' | 'target',
  { side, markPrice }: { side: 'long' | 'short'; markPrice: string | null },
  price: string,
): boolean {
  if (markPrice === null) return false;
  const isBelow = (side === 'long') === (what === 'stop');
  return isBelow ? D(markPrice).lte(price) : D(markPrice).gte(price);
}
