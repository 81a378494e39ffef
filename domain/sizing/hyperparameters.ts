import { D, toPercent, toPlain } from '../decimal.ts';
import { ATR_DECIMALS, showPrice } from '../show-price.ts';
import type { Position } from './position.ts';
import { ownTokenRules } from './token-rules.ts';
import {
  BUY_THRESHOLD_PLAN,
  CALCULATOR_STOP,
  DEFAULT_STOP_LOSS_FRACTION,
  EXECUTION_PROFILES,
  type ExecutionProfileName,
  LEVERAGE_ALIGNED,
  LEVERAGE_OPPOSED,
  LIQUIDATION_DISTANCE_LIMIT,
  MAXIMUM_PORTION,
  MAXIMUM_RISK,
  METHOD_CONFIGURATION_NOT_APPLIED,
  PRICE_DIFFERENCE_LIMIT,
  QUANTITY_PLACEHOLDER_UNITS,
  ROUND_TRIP_FEE_PERCENT,
  SELL_THRESHOLD_PLAN,
  TECHNICAL_ANALYSIS_STOP,
} from './trading-constants.ts';

/** One figure in force for a calculation. `source`: a built-in default, a setting, or the exchange. */
export interface Hyperparameter {
  name: string;
  value: string;
  source: string;
}

const DEFAULT = 'Built-in default';

interface Calculated {
  position: Position;
  profile: ExecutionProfileName;
  exchangePlatform: string;
  /** Waits from the program's settings; null where the profile's apply. */
  waits: { firstMs: number | null; secondMs: number | null; cancelMs: number | null };
}

/** Every figure behind a position, each with its source; percentages and units are part of the values. */
export function listHyperparameters(calculated: Calculated): Hyperparameter[] {
  return [
    ...prices(calculated),
    ...trend(calculated),
    ...stops(calculated),
    ...limits(calculated),
    ...rules(calculated),
    ...execution(calculated),
    ...notes(calculated),
  ];
}

const row = (name: string, value: string, source = DEFAULT): Hyperparameter => ({ name, value, source });
const percent = (fraction: string) => `${toPercent(fraction)}%`;
const shown = (value: string | number | null | undefined) => (value == null ? 'none' : String(value));

function prices({ position, exchangePlatform }: Calculated): Hyperparameter[] {
  const { signalPrice, livePrice, priceDifferencePercent: difference } = position.hyperparameters;
  const usdt = (price: unknown) => `${showPrice(String(price), position.rules.tickSize)} USDT`;
  return [
    row('Signal price', signalPrice == null ? 'none' : usdt(signalPrice), 'Signal'),
    row('Live price', livePrice == null ? 'not available' : usdt(livePrice), exchangePlatform),
    row(
      'Price difference',
      difference == null ? 'not known' : `${difference}%`,
      'Signal price and live price',
    ),
    row('Price difference that switches to the live price', percent(PRICE_DIFFERENCE_LIMIT)),
  ];
}

function trend({ position }: Calculated): Hyperparameter[] {
  const { aligned } = position;
  return [
    row('Immediate trend', shown(position.hyperparameters.immediateTrend), 'Price log'),
    row('Mature trend', shown(position.hyperparameters.matureTrend), 'Price log'),
    row('Buy threshold plan', String(BUY_THRESHOLD_PLAN)),
    row('Sell threshold plan', String(SELL_THRESHOLD_PLAN)),
    row('Leverage, aligned with the trend', inForce(String(LEVERAGE_ALIGNED), aligned)),
    row('Leverage, opposed to the trend', inForce(String(LEVERAGE_OPPOSED), !aligned)),
  ];
}

function stops({ position }: Calculated): Hyperparameter[] {
  const { aligned, atr, method, rules } = position;
  const table = method === 'Technical Analysis' ? TECHNICAL_ANALYSIS_STOP : CALCULATOR_STOP;
  return [
    row('ATR', atr === null ? 'none' : showPrice(atr, rules.tickSize, ATR_DECIMALS), 'Price log'),
    row('ATR multiplier, aligned', inForce(table.atrMultiplierAligned, aligned && atr !== null)),
    row('ATR multiplier, opposed', inForce(table.atrMultiplierOpposed, !aligned && atr !== null)),
    row(
      'Default stop loss without an ATR',
      method === 'Technical Analysis'
        ? 'none, the method needs an ATR'
        : inForce(percent(DEFAULT_STOP_LOSS_FRACTION), atr === null),
    ),
    row('Reward ratio, aligned', inForce(`${table.rewardRatioAligned}:1`, aligned)),
    row('Reward ratio, opposed', inForce(`${table.rewardRatioOpposed}:1`, !aligned)),
    row('Stop distance × leverage stays below', percent(LIQUIDATION_DISTANCE_LIMIT)),
  ];
}

function limits({ position }: Calculated): Hyperparameter[] {
  const { hyperparameters, method } = position;
  const portion = percent(shown(hyperparameters.portionLimit));
  const risk = percent(shown(hyperparameters.riskLimit));
  const settingUnless = (isFixed: boolean) => (isFixed ? DEFAULT : 'User settings');
  return [
    row('Investment portion allowed', portion, settingUnless(method === 'Risk Management')),
    row('Maximum risk allowed', risk, settingUnless(method === 'Technical Analysis')),
    row('Investment portion, cap', percent(MAXIMUM_PORTION)),
    row('Risk per trade, cap', percent(MAXIMUM_RISK)),
    row(
      'Maximum risk in the method’s configuration (second reading, not applied)',
      percent(METHOD_CONFIGURATION_NOT_APPLIED[method].maximumRisk),
    ),
  ];
}

/** Our rule, or the exchange's if it is stricter. */
function rules({ position, exchangePlatform }: Calculated): Hyperparameter[] {
  const { token, rules: merged } = position;
  const own = ownTokenRules(token);
  type Rule = 'tickSize' | 'quantityStep' | 'minimumQuantity' | 'minimumNotional';
  const rule = (name: string, key: Rule, shownAs: (value: string) => string) =>
    row(name, shownAs(merged[key]), D(merged[key]).eq(own[key]) ? DEFAULT : exchangePlatform);
  const decimals = D(merged.quantityStep).decimalPlaces();
  return [
    rule('Tick size', 'tickSize', (tick) => `${tick} USDT`),
    rule('Quantity precision', 'quantityStep', (step) => `${decimals} decimals, step ${step} ${token}`),
    rule('Minimum size', 'minimumQuantity', (minimum) => `${minimum} ${token}`),
    rule('Minimum notional', 'minimumNotional', (minimum) => `${minimum} USDT`),
    ...(merged.maximumLeverage === undefined
      ? []
      : [row('Maximum leverage of the contract', String(merged.maximumLeverage), exchangePlatform)]),
  ];
}

function execution({ position, profile, waits }: Calculated): Hyperparameter[] {
  const own = EXECUTION_PROFILES[profile];
  const wait = (name: string, setting: string, setMs: number | null, profileMs: number) =>
    row(name, `${toPlain(D(setMs ?? profileMs).div(1000))} s`, setMs === null ? DEFAULT : setting);
  return [
    row('Entry epsilon', `${position.epsilon} USDT`),
    row('Second attempt: epsilon ×', String(own.secondAttemptMultiplier)),
    wait('First verification after', 'VERIFY_FIRST_MS', waits.firstMs, own.firstWaitMs),
    wait('Second verification after', 'VERIFY_SECOND_MS', waits.secondMs, own.secondWaitMs),
    wait('Wait after a cancel', 'CANCEL_DELAY_MS', waits.cancelMs, own.cancelDelayMs),
  ];
}

function notes({ position }: Calculated): Hyperparameter[] {
  const { token, entryPrice } = position;
  const worth = toPlain(D(entryPrice).times(QUANTITY_PLACEHOLDER_UNITS));
  return [
    row('Fees of a round trip (outside of the sizing)', `about ${ROUND_TRIP_FEE_PERCENT}%`),
    row(
      'Quantity placeholder (for comparison, not used in the sizing)',
      `${QUANTITY_PLACEHOLDER_UNITS} ${token}, worth ${worth} USDT at the entry price`,
    ),
  ];
}

const inForce = (value: string, is: boolean) => (is ? `${value} (in force)` : value);
