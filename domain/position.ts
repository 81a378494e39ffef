/**
 * From a signal to the parameters of one order. Invariants:
 * 1. No position without a stop loss and a take profit, each on its own side of reference price and entry.
 * 2. The investment never exceeds 33% of the available balance, nor the loss at the stop the risk limit.
 * 3. What is shown is what is traded: every figure follows from the rounded prices and the rounded quantity.
 */
import { isUsableBalance } from './balance.ts';
import { cutFraction, D, isPositive, toPlain } from './decimal.ts';
import { type Denial, deny } from './denials.ts';
import { entryEpsilon, entryPrice } from './entry-price.ts';
import { checkOrderSides, checkStopBeforeLiquidation } from './order-checks.ts';
import { type CalculationFacts, describeCalculation } from './position-description.ts';
import {
  chooseReferencePrice,
  type PriceSource,
  type ReferencePrice,
  signalPriceDeviates,
} from './reference-price.ts';
import { portfolioAllocationLimits } from './sizing/portfolio-allocation.ts';
import { riskManagementLimits } from './sizing/risk-management.ts';
import { type SizingLimits, sizePosition } from './sizing/size-position.ts';
import { technicalAnalysisLimits } from './sizing/technical-analysis.ts';
import { stopLevels } from './stop-levels.ts';
import type { TokenRules } from './token-rules.ts';
import { type ExecutionProfileName, MAXIMUM_PORTION, MAXIMUM_RISK } from './trading-constants.ts';
import { type Action, alignment, leverageFor } from './trend.ts';
import {
  effectivePortion,
  effectiveRisk,
  isPortionAllowed,
  isRiskAllowed,
  isSizingMethod,
  type SizingMethod,
  type TradingSettings,
} from './user-settings.ts';

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
 * The position parameters of a signal for one user (decisions §8). Prices and money are decimal strings in
 * USDT. Throws only on input that is a mistake of the caller, such as rules of another token.
 */
export function calculatePosition(input: PositionInput): PositionResult {
  const { signal, priceLog, livePrice, livePriceProblem = null, profile, rules, availableBalance } = input;
  if (rules.token !== signal.token) {
    throw new RangeError(`Rules of ${rules.token} cannot size a position in ${signal.token}`);
  }
  const method = input.settings.positionSizingMethod;
  if (!isSizingMethod(method)) return refuse(deny('sizing_method_unavailable', { method }));
  const unusable = denySettings(input, method) ?? denyPrices(input);
  if (unusable !== null) return refuse(unusable);

  const reference = chooseReferencePrice({ signalPrice: signal.price, livePrice, livePriceProblem });
  const trend = alignment({
    action: signal.action,
    immediateTrend: priceLog?.immediateTrend,
    matureTrend: priceLog?.matureTrend,
  });
  const leverage = leverageFor(trend.aligned);
  const tooHigh = denyLeverage(rules, leverage);
  if (tooHigh !== null) return refuse(tooHigh);

  const levels = stopLevels({
    action: signal.action,
    referencePrice: reference.price,
    atr: priceLog?.atr ?? null,
    aligned: trend.aligned,
    method,
    tick: rules.tickSize,
  });
  if (!levels.ok) return levels;
  const epsilon = entryEpsilon({ token: signal.token, price: reference.price, profile });
  const entry = entryPrice({
    action: signal.action,
    referencePrice: reference.price,
    epsilon,
    tick: rules.tickSize,
  });
  const misplaced = denyPlacement({ input, reference, entry, leverage, ...levels });
  if (misplaced !== null) return refuse(misplaced);

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
    position: signal.action === 'buy' ? 'long' : 'short',
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

function refuse(denial: Denial): PositionResult {
  return { ok: false, denial };
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

function denySettings({ settings }: PositionInput, method: SizingMethod): Denial | null {
  const { marketType } = settings;
  if (marketType !== 'Futures') return deny('market_type_unavailable', { marketType });
  const portion = effectivePortion(settings);
  if (method !== 'Risk Management' && !isPortionAllowed(portion)) {
    return deny('setting_out_of_range', {
      setting: 'Investment portion',
      value: portion,
      maximum: MAXIMUM_PORTION,
    });
  }
  const risk = effectiveRisk(settings);
  if (method !== 'Technical Analysis' && !isRiskAllowed(risk)) {
    return deny('setting_out_of_range', {
      setting: 'Maximum risk per trade',
      value: risk,
      maximum: MAXIMUM_RISK,
    });
  }
  return null;
}

/** A workflow does not fall back on the signal price, and does not trade a signal far from the market. */
function denyPrices({ signal, livePrice, profile, availableBalance }: PositionInput): Denial | null {
  if (!isPositive(signal.price)) {
    return deny('price_not_positive', { name: 'Signal price', value: signal.price });
  }
  if (!isUsableBalance(availableBalance)) return deny('balance_unavailable', {});
  if (profile !== 'automatic') return null;
  if (livePrice === null || !isPositive(livePrice)) {
    return deny('live_price_unavailable', { token: signal.token });
  }
  return signalPriceDeviates({ signalPrice: signal.price, livePrice });
}

function denyLeverage(rules: TokenRules, leverage: number): Denial | null {
  if (rules.maximumLeverage === undefined || rules.maximumLeverage >= leverage) return null;
  return deny('leverage_unavailable', {
    token: rules.token,
    leverage: String(leverage),
    maximum: String(rules.maximumLeverage),
  });
}

function denyPlacement(placed: {
  input: PositionInput;
  reference: ReferencePrice;
  entry: string;
  leverage: number;
  stopLoss: string;
  takeProfit: string;
}): Denial | null {
  const { input, reference, entry, leverage, stopLoss, takeProfit } = placed;
  if (!isPositive(entry)) return deny('price_not_positive', { name: 'Entry price', value: entry });
  return (
    checkOrderSides({
      action: input.signal.action,
      stopLoss,
      takeProfit,
      prices: [reference.price, entry],
    }) ?? checkStopBeforeLiquidation({ entryPrice: entry, stopLoss, leverage })
  );
}
