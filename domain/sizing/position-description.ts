import { D, toPercent, toPlain } from '../decimal.ts';
import { ATR_DECIMALS, showPrice } from '../show-price.ts';
import type { SizingMethod } from '../user-settings.ts';
import type { PlanInput } from './position-plan.ts';
import type { PriceSource, ReferencePrice } from './reference-price.ts';
import type { SizingLimits } from './size-position.ts';
import type { StopLevels } from './stop-levels.ts';
import type { TokenRules } from './token-rules.ts';
import {
  DEFAULT_STOP_LOSS_FRACTION,
  MAXIMUM_PORTION,
  MAXIMUM_RISK,
  ROUND_TRIP_FEE_PERCENT,
} from './trading-constants.ts';
import type { Action } from './trend.ts';

/** A position without the texts that describe it. */
export interface CalculationFacts {
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
  /** The ATR used; null when the candle had none. */
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
}

export interface CalculationTexts {
  hyperparameters: Record<string, string | number | null>;
  /** One sentence. */
  calculationReason: string;
  /** The calculation line by line. */
  calculationDetail: string;
}

interface Calculation {
  facts: CalculationFacts;
  input: PlanInput & { balanceNote?: string | null };
  reference: ReferencePrice;
  trend: { reason: string };
  levels: StopLevels;
  limits: SizingLimits;
}

/** A position's hyperparameters, its reason in one sentence, and its calculation line by line. */
export function describeCalculation(calculation: Calculation): CalculationTexts {
  return {
    hyperparameters: hyperparameters(calculation),
    calculationReason: reasonOf(calculation),
    calculationDetail: detailLines(calculation).join('\n'),
  };
}

function hyperparameters({
  facts,
  input,
  reference,
  levels,
  limits,
}: Calculation): CalculationTexts['hyperparameters'] {
  const { settings, priceLog } = input;
  const asText = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? value : null);
  return {
    calculationBehavior: settings.calculationBehavior,
    marketType: settings.marketType,
    positionSizingMethod: facts.method,
    executionProfile: input.profile,
    signalPrice: toPlain(input.signal.price),
    livePrice: input.livePrice,
    priceDifferencePercent: reference.differencePercent,
    immediateTrend: asText(priceLog?.immediateTrend),
    matureTrend: asText(priceLog?.matureTrend),
    leverage: facts.leverage,
    atr: facts.atr,
    atrMultiplier: levels.atrMultiplier,
    defaultStopLoss: levels.atrMultiplier === null ? DEFAULT_STOP_LOSS_FRACTION : null,
    stopDistance: levels.distance,
    rewardRatio: levels.rewardRatio,
    epsilon: facts.epsilon,
    portionLimit: limits.portionLimit,
    riskLimit: limits.riskLimit,
    maximumPortion: MAXIMUM_PORTION,
    maximumRisk: MAXIMUM_RISK,
    tickSize: facts.rules.tickSize,
    quantityStep: facts.rules.quantityStep,
    minimumQuantity: facts.rules.minimumQuantity,
    minimumNotional: facts.rules.minimumNotional,
  };
}

function reasonOf({ facts, input, reference }: Calculation): string {
  const note = input.balanceNote == null ? '' : `; ${input.balanceNote}`;
  const shown = priceReader(facts);
  const alignment = facts.aligned ? 'aligned with' : 'opposed to';
  return (
    `${facts.action === 'buy' ? 'Buy' : 'Sell'} ${facts.assetQuantity} ${facts.token} at ${shown(facts.entryPrice)} with leverage ` +
    `${facts.leverage}, ${alignment} the trend: ${facts.method} invests ${toPercent(facts.investmentPortion)}% of the available ` +
    `balance and risks ${toPercent(facts.riskPercentage)}% of it down to the stop loss at ${shown(facts.stopLoss)}; ${reference.reason}${note}.`
  );
}

function detailLines(calculation: Calculation): string[] {
  const { facts, input, reference, trend } = calculation;
  const { rules } = facts;
  const shown = priceReader(facts);
  const livePrice = input.livePrice === null ? 'not available' : shown(input.livePrice);
  const sign = facts.action === 'buy' ? '+' : '-';
  const { investment, rule } = allowedInvestment(calculation);
  return [
    `Signal: ${facts.action} ${facts.token} at ${shown(input.signal.price)}, live price ${livePrice}`,
    `Reference price P = ${shown(facts.referencePrice)} (${reference.source}): ${reference.reason}`,
    `Trend: ${trend.reason}; ${facts.aligned ? 'aligned' : 'opposed'}, leverage L = ${facts.leverage}`,
    stopDistanceLine(calculation),
    `Stop loss S = P ${sign === '+' ? '-' : '+'} distance = ${shown(facts.stopLoss)}, on the tick ${rules.tickSize}`,
    `Take profit T = P ${sign} ${calculation.levels.rewardRatio} × distance = ${shown(facts.takeProfit)}, on the tick ${rules.tickSize}`,
    `Entry price E = P ${sign} epsilon ${facts.epsilon} = ${shown(facts.entryPrice)} (${input.profile} profile)`,
    `Stop distance from the entry d = |E - S| / E = ${toPercent(facts.distanceFraction, 4)}%; d × L = ${toPercent(D(facts.distanceFraction).times(facts.leverage), 2)}%`,
    `Available balance B = ${facts.availableBalance} USDT${input.balanceNote == null ? '' : `: ${input.balanceNote}`}`,
    `${facts.method}: ${rule} = ${toPlain(investment.toDecimalPlaces(8))} USDT at most`,
    `Asset quantity = investment × L / E, down to the step ${rules.quantityStep} = ${facts.assetQuantity} ${facts.token} ` +
      `(minimum ${rules.minimumQuantity} ${facts.token} and ${rules.minimumNotional} USDT)`,
    `Quantity = ${facts.assetQuantity} × ${shown(facts.entryPrice)} = ${facts.quantity} USDT`,
    `Investment = quantity / L = ${facts.investment} USDT, ${toPercent(facts.investmentPortion)}% of the available balance`,
    `Risk = ${facts.assetQuantity} × |${shown(facts.entryPrice)} - ${shown(facts.stopLoss)}| = ${toPlain(lossAtStop(facts))} USDT, ` +
      `${toPercent(facts.riskPercentage)}% of the available balance`,
    `Fees of about ${ROUND_TRIP_FEE_PERCENT}% of the quantity for a round trip are outside of these figures`,
  ];
}

const priceReader =
  ({ rules }: CalculationFacts) =>
  (price: string): string =>
    showPrice(price, rules.tickSize);

function stopDistanceLine({ facts, levels }: Calculation): string {
  const distance = showPrice(levels.distance, facts.rules.tickSize);
  return levels.atrMultiplier === null
    ? `Stop distance = ${toPercent(DEFAULT_STOP_LOSS_FRACTION, 0)}% of P = ${distance}, for want of an ATR`
    : `Stop distance = ATR ${showPrice(facts.atr ?? '0', facts.rules.tickSize, ATR_DECIMALS)} × ${levels.atrMultiplier} = ${distance}`;
}

/** The investment before rounding, by the method's own formula; for display only, the size is computed exactly. */
function allowedInvestment({ facts, limits }: Calculation) {
  const balance = D(facts.availableBalance);
  const perLeverage = D(facts.distanceFraction).times(facts.leverage);
  const byRisk = balance.times(limits.riskLimit).div(perLeverage);
  const byPortion = balance.times(limits.portionLimit);
  const risk = `${toPercent(limits.riskLimit)}%`;
  const portion = `${toPercent(limits.portionLimit)}%`;
  const investment = byRisk.lt(byPortion) ? byRisk : byPortion;
  if (facts.method === 'Risk Management') {
    return { investment, rule: `investment = min(B × ${risk} / (d × L), ${portion} of B)` };
  }
  const scaled = byRisk.lt(byPortion)
    ? `scaled down to keep the risk of ${risk}`
    : `within the risk of ${risk}`;
  return { investment, rule: `investment = B × ${portion}, ${scaled}` };
}

function lossAtStop(facts: CalculationFacts) {
  return D(facts.assetQuantity).times(D(facts.entryPrice).minus(facts.stopLoss).abs());
}
