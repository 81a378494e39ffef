import { isPositive } from '../decimal.ts';
import { checkEntryRounding, checkOrderSides, checkStopBeforeLiquidation } from '../orders/order-checks.ts';
import {
  effectivePortion,
  effectiveRisk,
  isPortionAllowed,
  isRiskAllowed,
  isSizingMethod,
  type SizingMethod,
  type TradingSettings,
} from '../user-settings.ts';
import { type Denial, deny } from '../workflow/denials.ts';
import { type CandleFigures, findNeededUnreadable } from './candle-figures.ts';
import { entryEpsilon, entryPrice } from './entry-price.ts';
import { chooseReferencePrice, type ReferencePrice, signalPriceDeviates } from './reference-price.ts';
import { type StopLevels, stopLevels } from './stop-levels.ts';
import type { TokenRules } from './token-rules.ts';
import { type ExecutionProfileName, MAXIMUM_PORTION, MAXIMUM_RISK } from './trading-constants.ts';
import { type Action, alignment, leverageFor } from './trend.ts';

/** The input of a position, except for the balance, which determines its size. */
export interface PlanInput {
  signal: { token: string; action: Action; price: string };
  priceLog: CandleFigures | null;
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
  profile: ExecutionProfileName;
  rules: TokenRules;
}

export interface PositionPlan {
  method: SizingMethod;
  reference: ReferencePrice;
  trend: ReturnType<typeof alignment>;
  leverage: ReturnType<typeof leverageFor>;
  levels: StopLevels;
  epsilon: string;
  entry: string;
}

/** The parameters of a position that do not depend on the balance. A refusal here holds for any balance. */
export function planPosition(
  input: PlanInput,
): { ok: true; plan: PositionPlan } | { ok: false; denial: Denial } {
  const { signal, priceLog, livePrice, livePriceProblem = null, profile, rules } = input;
  if (rules.token !== signal.token) {
    throw new RangeError(`Rules of ${rules.token} cannot size a position in ${signal.token}`);
  }
  const method = input.settings.positionSizingMethod;
  if (!isSizingMethod(method)) return refuse(deny('sizing_method_unavailable', { method }));
  const unusable = denySettings(input, method) ?? denyPrices(input) ?? denyUnreadable(input);
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
  const { action, token } = signal;
  const referencePrice = reference.price;
  const epsilon = entryEpsilon({ token, price: referencePrice, profile });
  const entry = entryPrice({ action, referencePrice, epsilon, tick: rules.tickSize });
  const { stopLoss, takeProfit } = levels;
  const prices = [referencePrice, entry];
  const misplaced = isPositive(entry)
    ? (checkEntryRounding({ entryPrice: entry, price: referencePrice, epsilon, rules }) ??
      checkOrderSides({ action, stopLoss, takeProfit, prices }) ??
      checkStopBeforeLiquidation({ entryPrice: entry, stopLoss, leverage }))
    : deny('price_not_positive', { name: 'Entry price', value: entry });
  if (misplaced !== null) return refuse(misplaced);
  return { ok: true, plan: { method, reference, trend, leverage, levels, epsilon, entry } };
}

const refuse = (denial: Denial) => ({ ok: false as const, denial });

function denySettings({ settings }: PlanInput, method: SizingMethod): Denial | null {
  const { marketType } = settings;
  if (marketType !== 'Futures') return deny('market_type_unavailable', { marketType });
  const outOfRange = (setting: string, value: string, maximum: string) =>
    deny('setting_out_of_range', { setting, value, maximum });
  const portion = effectivePortion(settings);
  if (method !== 'Risk Management' && !isPortionAllowed(portion)) {
    return outOfRange('Investment portion', portion, MAXIMUM_PORTION);
  }
  const risk = effectiveRisk(settings);
  if (method !== 'Technical Analysis' && !isRiskAllowed(risk)) {
    return outOfRange('Maximum risk per trade', risk, MAXIMUM_RISK);
  }
  return null;
}

/** A workflow does not fall back on the signal price, and does not trade a signal far from the market. */
function denyPrices({ signal, livePrice, profile }: PlanInput): Denial | null {
  if (!isPositive(signal.price)) {
    return deny('price_not_positive', { name: 'Signal price', value: signal.price });
  }
  if (profile !== 'automatic') return null;
  if (livePrice === null || !isPositive(livePrice)) {
    return deny('live_price_unavailable', { token: signal.token });
  }
  return signalPriceDeviates({ signalPrice: signal.price, livePrice });
}

/** An unreadable figure must not become the default stop, nor an unreadable trend an opposed one. */
function denyUnreadable({ priceLog }: PlanInput): Denial | null {
  const unreadable = findNeededUnreadable(priceLog);
  return unreadable === null ? null : deny('candle_field_unreadable', { ...unreadable });
}

function denyLeverage(rules: TokenRules, leverage: number): Denial | null {
  if (rules.maximumLeverage === undefined || rules.maximumLeverage >= leverage) return null;
  return deny('leverage_unavailable', {
    token: rules.token,
    leverage: String(leverage),
    maximum: String(rules.maximumLeverage),
  });
}
