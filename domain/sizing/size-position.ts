import { cutFraction, D, floorRatioToStep, smallest, toPlain } from '../decimal.ts';
import { checkOrderSize, minimumOrderQuantity } from '../orders/order-checks.ts';
import { type Denial, deny } from '../workflow/denials.ts';
import type { TokenRules } from './token-rules.ts';
import { MAXIMUM_PORTION } from './trading-constants.ts';

/** The limits of a sizing method, as fractions of the available balance. */
export interface SizingLimits {
  /** The investment stays at or below this. */
  portionLimit: string;
  /** The loss at the stop stays at or below this. */
  riskLimit: string;
}

/** The traded figures: all follow from the rounded quantity and the rounded prices. */
export interface PositionSize {
  /** In units of the token, a multiple of its step. */
  assetQuantity: string;
  /** Asset quantity × entry price, in USDT. */
  quantity: string;
  /** Quantity / leverage, in USDT: the margin. */
  investment: string;
  /** Investment / available balance. */
  investmentPortion: string;
  /** Asset quantity × |entry − stop| / available balance. */
  riskPercentage: string;
}

interface SizeInput {
  entryPrice: string;
  stopLoss: string;
  leverage: number;
  availableBalance: string;
  rules: TokenRules;
}

/**
 * The largest quantity on the token's step whose investment and loss at the stop stay within the limits. p·L·d ≤ r is
 * equivalent to quantity·|E − S| ≤ B·r, so each limit is one exact division.
 */
export function sizePosition(
  input: SizeInput & { limits: SizingLimits },
): ({ ok: true } & PositionSize) | { ok: false; denial: Denial } {
  const { entryPrice, rules, limits } = input;
  const balance = D(input.availableBalance);
  const lossPerUnit = D(entryPrice).minus(input.stopLoss).abs();
  const assetQuantity = smallest(
    floorRatioToStep({
      numerator: balance.times(limits.portionLimit).times(input.leverage),
      denominator: entryPrice,
      step: rules.quantityStep,
    }),
    floorRatioToStep({
      numerator: balance.times(limits.riskLimit),
      denominator: lossPerUnit,
      step: rules.quantityStep,
    }),
  );
  const denial = denySize({ ...input, quantity: toPlain(assetQuantity) });
  return denial === null
    ? { ok: true, ...describeSize({ ...input, assetQuantity: toPlain(assetQuantity) }) }
    : { ok: false, denial };
}

/** The figures of a position of this quantity. */
export function describeSize(input: Omit<SizeInput, 'rules'> & { assetQuantity: string }): PositionSize {
  const assetQuantity = D(input.assetQuantity);
  const quantity = assetQuantity.times(input.entryPrice);
  const investment = quantity.div(input.leverage);
  const loss = assetQuantity.times(D(input.entryPrice).minus(input.stopLoss).abs());
  return {
    assetQuantity: toPlain(assetQuantity),
    quantity: toPlain(quantity),
    investment: toPlain(investment),
    investmentPortion: cutFraction(investment.div(input.availableBalance)),
    riskPercentage: cutFraction(loss.div(input.availableBalance)),
  };
}

/**
 * The quantity is below a minimum: the minimum itself exceeds the 33% limit, or the limits leave less than it. Or it is
 * above the exchange's largest order.
 */
function denySize(input: SizeInput & { quantity: string }): Denial | null {
  const { quantity, entryPrice, rules, leverage, availableBalance } = input;
  const denial = checkOrderSize({ quantity, price: entryPrice, rules });
  if (denial === null || denial.code === 'above_maximum_quantity') return denial;
  const minimum = minimumOrderQuantity({ price: entryPrice, rules });
  const investment = D(minimum).times(entryPrice).div(leverage);
  const limit = D(availableBalance).times(MAXIMUM_PORTION);
  if (investment.lte(limit)) return denial;
  return deny('minimum_exceeds_limit', {
    token: rules.token,
    minimum,
    investment: toPlain(investment),
    limit: toPlain(limit),
    availableBalance: toPlain(availableBalance),
  });
}
