/**
 * From a signal to the parameters of one order. Invariants:
 * 1. No position without a stop loss and a take profit, each on its own side of reference price and entry.
 * 2. The investment never exceeds 33% of the available balance, nor the loss at the stop the risk limit.
 * 3. What is shown is what is traded: every figure follows from the rounded prices and the rounded quantity.
 */

import { cutFraction, D, isPositive, toPlain } from '../decimal.ts';
import {
  effectivePortion,
  effectiveRisk,
  type SizingMethod,
  type TradingSettings,
} from '../user-settings.ts';
import { type Denial, deny } from '../workflow/denials.ts';
import { isUsableBalance } from './balance.ts';
import { portfolioAllocationLimits } from './portfolio-allocation.ts';
import { type CalculationFacts, describeCalculation } from './position-description.ts';
import { planPosition } from './position-plan.ts';
import type { PriceSource } from './reference-price.ts';
import { riskManagementLimits } from './risk-management.ts';
import { type SizingLimits, sizePosition } from './size-position.ts';
import { technicalAnalysisLimits } from './technical-analysis.ts';
import type { TokenRules } from './token-rules.ts';
import type { ExecutionProfileName } from './trading-constants.ts';
import { type Action, sideOpenedBy } from './trend.ts';

export interface Position {
  token: string;
  action: Action;
  position: 'long' | 'short';
  referencePrice: string;
  priceSource: PriceSource;
  entryPrice: string;
  stopLoss: string;
  takeProfit: string;
  leverage: number;
  aligned: boolean;
  /** In USDT. */
  epsilon: string;
  /** As used; null when the candle had none. */
  atr: string | null;
  /** In units of the token. */
  assetQuantity: string;
  /** In USDT. */
  quantity: string;
  /** Margin in USDT. */
  investment: string;
  /** Fraction of the available balance. */
  investmentPortion: string;
  /** Loss at the stop as a fraction of the available balance. */
  riskPercentage: string;
  /** |entry − stop| / entry. */
  distanceFraction: string;
  availableBalance: string;
  method: SizingMethod;
  rules: TokenRules;
  hyperparameters: Record<string, string | number | null>;
  /** One sentence. */
  calculationReason: string;
  /** The calculation line by line. */
  calculationDetail: string;
}

export interface PositionInput {
  signal: { token: string; action: Action; price: string };
  priceLog: { atr: string | null; immediateTrend: unknown; matureTrend: unknown } | null;
  livePrice: string | null;
  /** Why there is no live price: a clause without a full stop. */
  livePriceProblem?: string | null;
  settings: Pick<
    TradingSettings,
    | 'positionSizingMethod'
    | 'investmentPortion'
    | 'maximumRiskPerTrade'
    | 'marketType'
    | 'calculationBehavior'
  >;
  /** Available futures balance in USDT. */
  availableBalance: string;
  /** What is to be said of the balance when it was not just read: a clause without a full stop. */
  balanceNote?: string | null;
  profile: ExecutionProfileName;
  rules: TokenRules;
}

export type PositionResult = { ok: true; position: Position } | { ok: false; denial: Denial };

/**
 * The position parameters of a signal for one user. Prices and money are decimal strings in
 * USDT. Throws only on input that is a mistake of the caller, such as rules of another token.
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

function limitsOf(method: SizingMethod, settings: PositionInput['settings']): SizingLimits {
  const portion = effectivePortion(settings);
  const maximumRisk = effectiveRisk(settings);
  switch (method) {
    case 'Risk Management':
      return riskManagementLimits({ maximumRisk });
    case 'Portfolio Allocation':
      return portfolioAllocationLimits({ portion, maximumRisk });
    case 'Technical Analysis':
      return technicalAnalysisLimits({ portion });
  }
}
