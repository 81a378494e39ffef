import { D, floorToStep, isPositive, smallest, toPlain } from '../decimal.ts';

/** More parts than this are not sent at once; the next step closes the rest. */
export const MOST_PARTS = 50;

/**
 * The quantities of the market orders that close `quantity`, in units of the token: as few as the contract's largest
 * market order allows, and about equal, so that none is below its smallest order. `maximum` null: it names none.
 */
export function splitClose(input: {
  quantity: string;
  maximum: string | null;
  /** The contract's step; null where it is not known. */
  step: string | null;
}): string[] {
  const { quantity, maximum, step } = input;
  if (maximum === null || step === null || D(quantity).lte(maximum)) return [quantity];
  const most = floorToStep(maximum, step);
  if (!isPositive(toPlain(most))) return [quantity];
  const count = D(quantity).div(most).ceil();
  const even = floorToStep(D(quantity).div(count), step);
  const size = even.times(count).lt(quantity) ? even.plus(step) : even;
  const parts: string[] = [];
  let rest = D(quantity);
  while (rest.gt(0) && parts.length < MOST_PARTS) {
    const part = smallest(size, rest);
    parts.push(toPlain(part));
    rest = rest.minus(part);
  }
  return parts;
}
