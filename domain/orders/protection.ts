import { D, isMultipleOf, toPlain } from '../decimal.ts';
import { STOP_SLACK_TICKS } from '../sizing/trading-constants.ts';

/** The stop loss and take profit that an exchange holds for a position. */
interface Held {
  stopLoss: string | null;
  takeProfit: string | null;
  /** Why it is not known whether there is a take profit: none is placed beside one that may be there. */
  targetProblem?: string;
}

interface Position {
  side: 'long' | 'short';
  entryPrice: string;
  /** Null when the exchange does not report it. */
  markPrice: string | null;
}

/**
 * What a position we opened lacks (I4). `close`: no stop, and the price is at or beyond the planned stop, so none can be
 * placed. `stop`: a stop can be placed. `target`: only the take profit is missing, and can be placed.
 */
export type ProtectionNeed = 'nothing' | 'target' | 'stop' | 'close';

interface Protected extends Position {
  held: Held;
  planned: { stopLoss: string; takeProfit: string };
}

/** What the position lacks, given its effective stop and target and the exchange's mark price. */
export function protectionNeed(input: Protected): ProtectionNeed {
  const { planned, markPrice } = input;
  const held = standingProtection(input);
  if (held.stopLoss === null) {
    return hasReached('stop', input, markPrice, planned.stopLoss) ? 'close' : 'stop';
  }
  return isTargetMissing(input, held) ? 'target' : 'nothing';
}

const isTargetMissing = (input: Protected, held: Held): boolean =>
  held.takeProfit === null &&
  held.targetProblem === undefined &&
  !hasReached('target', input, input.markPrice, input.planned.takeProfit);

/** The planned prices that have to be placed; a target that the price has reached would trigger immediately. */
export function missingProtection(input: Protected): Held {
  const { planned } = input;
  const held = standingProtection(input);
  return {
    stopLoss: held.stopLoss === null ? planned.stopLoss : null,
    takeProfit: isTargetMissing(input, held) ? planned.takeProfit : null,
  };
}

/**
 * The stop and target that really protect the position. One that both the entry and the price have passed does not
 * count: it would have triggered, and may be left over from a position in the other direction. One that only the price
 * has passed is being executed right now, and a stop that only the entry has passed has followed the price.
 */
export function standingProtection(input: Position & { held: Held }): Held {
  const { entryPrice, markPrice, held } = input;
  const standing = (what: 'stop' | 'target', price: string | null) => {
    const isBeyond = (of: string | null) => price !== null && hasReached(what, input, of, price);
    return isBeyond(entryPrice) && isBeyond(markPrice) ? null : price;
  };
  const { targetProblem } = held;
  return {
    stopLoss: standing('stop', held.stopLoss),
    takeProfit: standing('target', held.takeProfit),
    ...(targetProblem === undefined ? {} : { targetProblem }),
  };
}

/** The target in words: its price, that it is not known and why, or what it means that there is none. */
export const targetText = ({ takeProfit, targetProblem }: Held, none = 'none'): string =>
  takeProfit ?? (targetProblem === undefined ? none : `not known (${targetProblem})`);

/** Whether a stop is further away than planned by more than an exchange may round; prices in USDT. */
export function isFurtherThanPlanned(input: {
  side: 'long' | 'short';
  stopLoss: string;
  planned: { stopLoss: string };
  /** Of the exchange's contract; '0' allows no difference. */
  tickSize: string;
}): boolean {
  const { side, stopLoss, planned, tickSize } = input;
  const further = side === 'long' ? D(planned.stopLoss).minus(stopLoss) : D(stopLoss).minus(planned.stopLoss);
  return further.gt(D(tickSize).times(STOP_SLACK_TICKS));
}

/** Whether a stop or target at `price` would trigger at `reached`; false when `reached` is unknown. */
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

/** The stop and target that an open position should have: as moved, else as calculated for its entry. */
export const plannedProtection = (trade: {
  stopLoss: string;
  takeProfit: string;
  movedStopLoss: string | null;
  movedTakeProfit: string | null;
}): { stopLoss: string; takeProfit: string } => ({
  stopLoss: trade.movedStopLoss ?? trade.stopLoss,
  takeProfit: trade.movedTakeProfit ?? trade.takeProfit,
});

/** New prices for the stop and target of a position; null leaves one where it is. */
type NewPrices = Pick<Held, 'stopLoss' | 'takeProfit'>;

export interface MoveProblem {
  field: 'stopLoss' | 'takeProfit';
  message: string;
}

/**
 * Why a stop or target cannot be moved there: between two ticks, not on its own side of the mark price, or a stop that
 * the liquidation comes before. Empty when nothing speaks against it.
 */
export function moveProblems(input: {
  side: 'long' | 'short';
  markPrice: string;
  liquidationPrice: string | null;
  tickSize: string;
  prices: NewPrices;
}): MoveProblem[] {
  const { side, markPrice, liquidationPrice, tickSize, prices } = input;
  const problems: MoveProblem[] = [];
  for (const { field, name, what } of SIDES) {
    const price = prices[field];
    if (price === null) continue;
    const isBelow = (side === 'long') === (what === 'stop');
    if (!D(price).gt(0) || !isMultipleOf(price, tickSize)) {
      problems.push({ field, message: `The ${name} has to be a multiple of the tick ${toPlain(tickSize)}` });
    } else if (hasReached(what, { side }, markPrice, price)) {
      const where = isBelow ? 'below' : 'above';
      const message = `The ${name} of a ${side} position has to be ${where} the mark price ${markPrice}`;
      problems.push({ field, message });
    } else if (what === 'stop' && liquidationPrice !== null && isBeyond(side, price, liquidationPrice)) {
      const message = `The stop loss has to come before the liquidation price ${liquidationPrice}`;
      problems.push({ field, message });
    }
  }
  return problems;
}

const SIDES = [
  { field: 'stopLoss', name: 'stop loss', what: 'stop' },
  { field: 'takeProfit', name: 'take profit', what: 'target' },
] as const;

/** Whether a stop at `price` would come at or after `limit` when the price moves against the position. */
const isBeyond = (side: 'long' | 'short', price: string, limit: string): boolean =>
  side === 'long' ? D(price).lte(limit) : D(price).gte(limit);

/** Whether a position loses more at the new stop than at the present one; without a present one it never does. */
export function risksMore(input: {
  side: 'long' | 'short';
  present: string | null;
  stopLoss: string | null;
}): boolean {
  const { side, present, stopLoss } = input;
  if (present === null || stopLoss === null || D(present).eq(stopLoss)) return false;
  return isBeyond(side, stopLoss, present);
}
