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
const USER_SETTINGS = 'User settings';

interface Calculated {
  position: Position;
  profile: ExecutionProfileName;
  exchangePlatform: string;
  /** The waits of the program's own settings; null where the profile's hold. */
  waits: { firstMs: number | null; secondMs: number | null; cancelMs: number | null };
}

/** Every figure that a position rests on, each with its source; percentages and units are in the values. */
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

const row = (name: string, value: string, source: string): Hyperparameter => ({ name, value, source });
const percent = (fraction: string) => `${toPercent(fraction)}%`;
const shown = (value: string | number | null | undefined) => (value == null ? 'none' : String(value));

function prices({ position, exchangePlatform }: Calculated): Hyperparameter[] {
  const {
    hyperparameters,
    rules: { tickSize },
  } = position;
  const usdt = (price: unknown) => `${showPrice(String(price), tickSize)} USDT`;
  const difference = hyperparameters.priceDifferencePercent;
  return [
    row(
      'Signal price',
      hyperparameters.signalPrice == null ? 'none' : usdt(hyperparameters.signalPrice),
      'Signal',
    ),
    row(
      'Live price',
      hyperparameters.livePrice == null ? 'not available' : usdt(hyperparameters.livePrice),
      exchangePlatform,
    ),
    row(
      'Price difference',
      difference == null ? 'not known' : `${difference}%`,
      'Signal price and live price',
    ),
    row('Price difference that switches to the live price', percent(PRICE_DIFFERENCE_LIMIT), DEFAULT),
  ];
}

function trend({ position }: Calculated): Hyperparameter[] {
  const { aligned } = position;
  return [
    row('Immediate trend', shown(position.hyperparameters.immediateTrend), 'Price log'),
    row('Mature trend', shown(position.hyperparameters.matureTrend), 'Price log'),
    row('Buy threshold plan', String(BUY_THRESHOLD_PLAN), DEFAULT),
    row('Sell threshold plan', String(SELL_THRESHOLD_PLAN), DEFAULT),
    row('Leverage, aligned with the trend', inForce(String(LEVERAGE_ALIGNED), aligned), DEFAULT),
    row('Leverage, opposed to the trend', inForce(String(LEVERAGE_OPPOSED), !aligned), DEFAULT),
  ];
}

function stops({ position }: Calculated): Hyperparameter[] {
  const {
    aligned,
    atr,
    method,
    rules: { tickSize },
  } = position;
  const table = method === 'Technical Analysis' ? TECHNICAL_ANALYSIS_STOP : CALCULATOR_STOP;
  return [
    row('ATR', atr === null ? 'none' : showPrice(atr, tickSize, ATR_DECIMALS), 'Price log'),
    row('ATR multiplier, aligned', inForce(table.atrMultiplierAligned, aligned && atr !== null), DEFAULT),
    row('ATR multiplier, opposed', inForce(table.atrMultiplierOpposed, !aligned && atr !== null), DEFAULT),
    row(
      'Default stop loss without an ATR',
      method === 'Technical Analysis'
        ? 'none, the method needs an ATR'
        : inForce(percent(DEFAULT_STOP_LOSS_FRACTION), atr === null),
      DEFAULT,
    ),
    row('Reward ratio, aligned', inForce(`${table.rewardRatioAligned}:1`, aligned), DEFAULT),
    row('Reward ratio, opposed', inForce(`${table.rewardRatioOpposed}:1`, !aligned), DEFAULT),
    row('Stop distance × leverage stays below', percent(LIQUIDATION_DISTANCE_LIMIT), DEFAULT),
  ];
}

function limits({ position }: Calculated): Hyperparameter[] {
  const { hyperparameters, method } = position;
  const portion = shown(hyperparameters.portionLimit);
  const risk = shown(hyperparameters.riskLimit);
  return [
    row(
      'Investment portion allowed',
      percent(portion),
      method === 'Risk Management' ? DEFAULT : USER_SETTINGS,
    ),
    row('Maximum risk allowed', percent(risk), method === 'Technical Analysis' ? DEFAULT : USER_SETTINGS),
    row('Investment portion, cap', percent(MAXIMUM_PORTION), DEFAULT),
    row('Risk per trade, cap', percent(MAXIMUM_RISK), DEFAULT),
    row(
      'Maximum risk in the method’s configuration (second reading, not applied)',
      percent(METHOD_CONFIGURATION_NOT_APPLIED[method].maximumRisk),
      DEFAULT,
    ),
  ];
}

/** Ours, or the exchange's where it is the stricter one. */
function rules({ position, exchangePlatform }: Calculated): Hyperparameter[] {
  const { token, rules: merged } = position;
  const own = ownTokenRules(token);
  const sourceOf = (value: string, ours: string) => (D(value).eq(ours) ? DEFAULT : exchangePlatform);
  const decimals = D(merged.quantityStep).decimalPlaces();
  return [
    row('Tick size', `${merged.tickSize} USDT`, sourceOf(merged.tickSize, own.tickSize)),
    row(
      'Quantity precision',
      `${decimals} decimals, step ${merged.quantityStep} ${token}`,
      sourceOf(merged.quantityStep, own.quantityStep),
    ),
    row(
      'Minimum size',
      `${merged.minimumQuantity} ${token}`,
      sourceOf(merged.minimumQuantity, own.minimumQuantity),
    ),
    row(
      'Minimum notional',
      `${merged.minimumNotional} USDT`,
      sourceOf(merged.minimumNotional, own.minimumNotional),
    ),
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
    row('Entry epsilon', `${position.epsilon} USDT`, DEFAULT),
    row('Second attempt: epsilon ×', String(own.secondAttemptMultiplier), DEFAULT),
    wait('First verification after', 'VERIFY_FIRST_MS', waits.firstMs, own.firstWaitMs),
    wait('Second verification after', 'VERIFY_SECOND_MS', waits.secondMs, own.secondWaitMs),
    wait('Wait after a cancel', 'CANCEL_DELAY_MS', waits.cancelMs, own.cancelDelayMs),
  ];
}

function notes({ position }: Calculated): Hyperparameter[] {
  const { token, entryPrice } = position;
  const worth = toPlain(D(entryPrice).times(QUANTITY_PLACEHOLDER_UNITS));
  return [
    row('Fees of a round trip (outside of the sizing)', `about ${ROUND_TRIP_FEE_PERCENT}%`, DEFAULT),
    row(
      'Quantity placeholder (for comparison, not used in the sizing)',
      `${QUANTITY_PLACEHOLDER_UNITS} ${token}, worth ${worth} USDT at the entry price`,
      DEFAULT,
    ),
  ];
}

const inForce = (value: string, is: boolean) => (is ? `${value} (in force)` : value);
