import { D, floorToStep, type Numeric, toPlain } from '../decimal.ts';
import type { TokenRules } from '../sizing/token-rules.ts';

export type PartialClose =
  /** Quantities in units of the token; together they are the position. */
  { isPossible: true; close: string; keep: string } | { isPossible: false; reason: string };

/**
 * Which part of a position `percent` (above 0, below 100) of it is: rounded down to the step, so that never more is closed than
 * asked for. Neither part may be below the exchange's smallest quantity: it could not be ordered, or not be closed later.
 */
export function partialClose(input: {
  quantity: string;
  percent: Numeric;
  rules: Pick<TokenRules, 'token' | 'quantityStep' | 'minimumQuantity'>;
}): PartialClose {
  const { quantity, percent, rules } = input;
  const { token, quantityStep, minimumQuantity } = rules;
  const part = floorToStep(D(quantity).times(percent).div(100), quantityStep);
  const rest = D(quantity).minus(part);
  const smallest = `the smallest order is ${toPlain(minimumQuantity)} ${token}`;
  if (part.lte(0) || part.lt(minimumQuantity)) {
    const asked = toPlain(D(quantity).times(percent).div(100));
    const reason = `${percent} % of the position is ${asked} ${token}, and ${smallest}; close more of it`;
    return { isPossible: false, reason };
  }
  if (rest.lt(minimumQuantity)) {
    const reason = `${toPlain(rest)} ${token} would be left, and ${smallest}; close all of it`;
    return { isPossible: false, reason };
  }
  return { isPossible: true, close: toPlain(part), keep: toPlain(rest) };
}
