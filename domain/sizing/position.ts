/**
 * From a signal to the parameters of one order. Invariants:
 * 1. No position without a stop loss and a take profit, each on its own side of reference price and entry.
 * 2. The investment never exceeds 33% of the available balance, nor the loss at the stop the risk limit.
 * 3. The displayed figures are the traded ones: each follows from the rounded prices and the rounded quantity.
 */

import { cutFraction, D, isPositive, toPlain } from '../decimal.ts';
import { effectivePortion, effectiveRisk, type SizingMethod } from '../user-settings.ts';
import { type Denial, deny } from '../workflow/denials.ts';
import { isUsableBalance } from './balance.ts';
import { type CalculationFacts, type CalculationTexts, describeCalculation } from './position-description.ts';
import { type PlanInput, planPosition } from './position-plan.ts';
import { type SizingLimits, sizePosition } from './size-position.ts';
import { MAXIMUM_PORTION, MAXIMUM_RISK } from './trading-constants.ts';
import { sideOpenedBy } from './trend.ts';

/** The parameters of one order, and how they were calculated. */
export type Position = CalculationFacts & CalculationTexts;

export interface PositionInput extends PlanInput {
  /** Available futures balance in USDT. */
  availableBalance: string;
  /** A note on a balance that was not just read: a clause without a full stop. */
  balanceNote?: string | null;
}

export type PositionResult = { ok: true; position: Position } | { ok: false; denial: Denial };

/**
 * The position parameters of a signal for one user. Prices and money are decimal strings in USDT. Throws only on a
 * mistake of the caller, such as rules of another token.
 */
export function calculatePosition(input: PositionInput): PositionResult {
  const { signal, priceLog, rules, availableBalance } = input;
  const planned = planPosition(input);
  if (!planned.ok) return planned;
  const { method, reference, trend, leverage, levels, epsilon, entry } = planned.plan;
  if (!isUsableBalance(availableBalance)) return { ok: false, denial: deny('balance_unavailable', {}) };

  const limits = limitsOf(method, input.settings);
  const size = sizePosition({
    entryPrice: entry,
    stopLoss: levels.stopLoss,
    leverage,
    availableBalance,
    rules,
    limits,
  });
  if (!size.ok) return size;

  const { assetQuantity, quantity, investment, investmentPortion, riskPercentage } = size;
  const facts: CalculationFacts = {
    token: signal.token,
    action: signal.action,
    position: sideOpenedBy(signal.action),
    referencePrice: reference.price,
    priceSource: reference.source,
    entryPrice: entry,
    stopLoss: levels.stopLoss,
    takeProfit: levels.takeProfit,
    leverage,
    aligned: trend.aligned,
    epsilon,
    atr: isPositive(priceLog?.atr) ? toPlain(priceLog?.atr ?? '') : null,
    assetQuantity,
    quantity,
    investment,
    investmentPortion,
    riskPercentage,
    distanceFraction: cutFraction(D(entry).minus(levels.stopLoss).abs().div(entry)),
    availableBalance: toPlain(availableBalance),
    method,
    rules,
  };
  return {
    ok: true,
    position: { ...facts, ...describeCalculation({ facts, input, reference, trend, levels, limits }) },
  };
}

/** The limit that the method takes from the user's settings; the other limit is fixed. */
function limitsOf(method: SizingMethod, settings: PositionInput['settings']): SizingLimits {
  return {
    portionLimit: method === 'Risk Management' ? MAXIMUM_PORTION : effectivePortion(settings),
    riskLimit: method === 'Technical Analysis' ? MAXIMUM_RISK : effectiveRisk(settings),
  };
}
