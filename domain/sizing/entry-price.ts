import { D, roundToTick, toPlain } from '../decimal.ts';
import { EXECUTION_PROFILES, type ExecutionProfileName } from './trading-constants.ts';
import type { Action } from './trend.ts';

/** How far the limit lies beyond the price, in USDT: the token's dollars or the profile's fraction. */
export function entryEpsilon(input: {
  token: string;
  price: string;
  profile: ExecutionProfileName;
  multiplier?: number;
}): string {
  const profile = EXECUTION_PROFILES[input.profile];
  const dollars = Object.hasOwn(profile.epsilonDollars, input.token)
    ? profile.epsilonDollars[input.token]
    : undefined;
  const fraction = Object.hasOwn(profile.epsilonFractions, input.token)
    ? profile.epsilonFractions[input.token]
    : undefined;
  const epsilon = dollars ?? D(input.price).times(fraction ?? profile.defaultEpsilonFraction);
  return toPlain(D(epsilon).times(input.multiplier ?? 1));
}

/** The limit entry: above the price for a buy, below it for a sell, rounded away from the price to the tick. */
export function entryPrice(input: {
  action: Action;
  referencePrice: string;
  epsilon: string;
  tick: string;
}): string {
  const { action, referencePrice, epsilon, tick } = input;
  return toPlain(
    action === 'buy'
      ? roundToTick(D(referencePrice).plus(epsilon), tick, 'up')
      : roundToTick(D(referencePrice).minus(epsilon), tick, 'down'),
  );
}
