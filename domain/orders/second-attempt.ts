import { D, isPositive, toPlain } from '../decimal.ts';
import { entryEpsilon, entryPrice } from '../sizing/entry-price.ts';
import { quantityWithinPlan } from '../sizing/keep-plan.ts';
import type { Position } from '../sizing/position.ts';
import { EXECUTION_PROFILES, type ExecutionProfileName } from '../sizing/trading-constants.ts';
import { type Denial, deny } from '../workflow/denials.ts';
import { checkOrderSides, checkOrderSize, checkStopBeforeLiquidation } from './order-checks.ts';

export type SecondAttempt =
  | { ok: true; entryPrice: string; assetQuantity: string }
  | { ok: false; denial: Denial };

/**
 * The second attempt for what the first left unfilled, after its cancel is confirmed: a fresh
 * price, a larger epsilon, stop and target as calculated, planned loss and margin kept. Quantities are in units
 * of the token. Throws when `filledQuantity` is negative.
 */
export function planSecondAttempt(input: {
  position: Pick<
    Position,
    'token' | 'action' | 'entryPrice' | 'stopLoss' | 'takeProfit' | 'leverage' | 'assetQuantity' | 'rules'
  >;
  profile: ExecutionProfileName;
  freshPrice: string;
  filledQuantity: string;
}): SecondAttempt {
  const { position, profile, freshPrice, filledQuantity } = input;
  const { token, action, stopLoss, takeProfit, leverage, rules } = position;
  if (D(filledQuantity).lt(0)) throw new RangeError(`A filled quantity cannot be ${filledQuantity}`);
  const rest = D(position.assetQuantity).minus(filledQuantity);
  if (!rest.gt(0)) return { ok: false, denial: deny('nothing_left_to_fill', {}) };
  if (!isPositive(freshPrice)) return { ok: false, denial: deny('live_price_unavailable', { token }) };

  const multiplier = EXECUTION_PROFILES[profile].secondAttemptMultiplier;
  const epsilon = entryEpsilon({ token, price: freshPrice, profile, multiplier });
  const entry = entryPrice({ action, referencePrice: freshPrice, epsilon, tick: rules.tickSize });
  const misplaced =
    checkOrderSides({ action, stopLoss, takeProfit, prices: [toPlain(freshPrice), entry] }) ??
    checkStopBeforeLiquidation({ entryPrice: entry, stopLoss, leverage });
  if (misplaced !== null) return { ok: false, denial: misplaced };

  const assetQuantity = quantityWithinPlan({
    quantity: toPlain(rest),
    plannedEntry: position.entryPrice,
    newEntry: entry,
    stopLoss,
    step: rules.quantityStep,
  });
  const tooSmall = checkOrderSize({ quantity: assetQuantity, price: entry, rules });
  return tooSmall === null ? { ok: true, entryPrice: entry, assetQuantity } : { ok: false, denial: tooSmall };
}
