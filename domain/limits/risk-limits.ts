import { D, type Decimal } from '../decimal.ts';
import { isWithinOther, type TradingHours } from './trading-hours.ts';

/** How far entries may go. Null is no limit. Texts as operators write them. */
export interface RiskLimits {
  /** USDT such as '300', or a share of the equity at the day's start such as '3%'. */
  maxDailyLoss: string | null;
  /** A share of the equity at the highest profit since the limit was set, such as '10%'. */
  maxDrawdown: string | null;
  maxLossesInARow: number | null;
  /** How long entries stop after that many losses; null: until the limit is reset. */
  cooldownMinutes: number | null;
  maxOpenPositions: number | null;
  /** USDT such as '5000', or a multiple of the equity such as '3x'. */
  maxExposure: string | null;
  /** A share of the equity that all stops together would lose, such as '4%'. */
  maxRisk: string | null;
  maxEntriesPerMinute: number | null;
  allowedTokens: readonly string[] | null;
  blockedTokens: readonly string[] | null;
  /** Of a strategy or a user: entries outside of these hours are denied. */
  schedule: TradingHours | null;
  /** Entries beyond `maxExposure` and `maxRisk` are made smaller instead of denied. */
  shrink: boolean;
  /** What follows when a limit is reached that stops entries: nothing more, or all positions of the scope are closed. */
  onBreach: 'stop' | 'close';
}

export const NO_LIMITS: RiskLimits = {
  maxDailyLoss: null,
  maxDrawdown: null,
  maxLossesInARow: null,
  cooldownMinutes: null,
  maxOpenPositions: null,
  maxExposure: null,
  maxRisk: null,
  maxEntriesPerMinute: null,
  allowedTokens: null,
  blockedTokens: null,
  schedule: null,
  shrink: false,
  onBreach: 'stop',
};

/** The limits that stop entries when they are reached, until something ends the stop. */
export const STOPPING_LIMITS = ['maxDailyLoss', 'maxDrawdown', 'maxLossesInARow'] as const;
export type StoppingLimit = (typeof STOPPING_LIMITS)[number];

export const hasStoppingLimit = (limits: RiskLimits): boolean =>
  STOPPING_LIMITS.some((name) => limits[name] !== null);

/** Whose entries a limit counts: all, those of a strategy, or those of a user. */
export interface RiskScope {
  kind: 'program' | 'strategy' | 'user';
  /** Empty for the program, the strategy as `strategyKey` has it, or the user's id. */
  value: string;
}

/** The form in which strategies are compared and stored. */
export const strategyKey = (processor: string): string => processor.trim().toLowerCase();

const UNITS = { '': 'USDT', '%': 'share', x: 'multiple' } as const;

interface Measure {
  unit: (typeof UNITS)[keyof typeof UNITS];
  /** Of a share the fraction: '3%' is 0.03. */
  value: Decimal;
}

const MEASURE = /^(\d{1,15}(?:\.\d{1,8})?)(%|x)?$/;

/** A limit as it is written; null when it cannot be read or is not above zero. */
export function readMeasure(text: string): Measure | null {
  const [, digits, suffix = ''] = MEASURE.exec(text) ?? [];
  if (digits === undefined) return null;
  const value = D(digits);
  if (!value.gt(0)) return null;
  const unit = UNITS[suffix as keyof typeof UNITS];
  return { unit, value: unit === 'share' ? value.div(100) : value };
}

/** A limit in USDT; null when it depends on an equity that is not known. Throws when it cannot be read. */
export function limitInUsdt(text: string, equity: Decimal | null): Decimal | null {
  const measure = readMeasure(text);
  if (measure === null) throw new RangeError(`Not a limit: ${JSON.stringify(text)}`);
  if (measure.unit === 'USDT') return measure.value;
  return equity === null ? null : measure.value.times(equity);
}

/** The first field that allows more after a change; null when every field allows the same or less. */
export function loosenedField(before: RiskLimits, after: RiskLimits): keyof RiskLimits | null {
  const raised = (name: keyof RiskLimits, is: boolean) => (is ? [name] : []);
  const [first = null] = [
    ...(['maxDailyLoss', 'maxDrawdown', 'maxExposure', 'maxRisk'] as const).flatMap((name) =>
      raised(name, isMeasureRaised(before[name], after[name])),
    ),
    ...(['maxLossesInARow', 'maxOpenPositions', 'maxEntriesPerMinute'] as const).flatMap((name) =>
      raised(name, isCountRaised(before[name], after[name])),
    ),
    ...raised('cooldownMinutes', isCoolDownShorter(before, after)),
    ...raised('allowedTokens', !isAllowed(after.allowedTokens, before.allowedTokens)),
    ...raised(
      'blockedTokens',
      !(before.blockedTokens ?? []).every((one) => after.blockedTokens?.includes(one)),
    ),
    ...raised('schedule', !isScheduleWithin(after.schedule, before.schedule)),
    ...raised('shrink', after.shrink && !before.shrink && bounds(before)),
    ...raised('onBreach', before.onBreach === 'close' && after.onBreach === 'stop'),
  ];
  return first;
}

const bounds = ({ maxExposure, maxRisk }: RiskLimits) => maxExposure !== null || maxRisk !== null;

/** Limits in different units cannot be compared: the new one may allow more. */
function isMeasureRaised(before: string | null, after: string | null): boolean {
  if (before === null || before === after) return false;
  const [one, other] = [readMeasure(before), after === null ? null : readMeasure(after)];
  return one === null || other === null || one.unit !== other.unit || other.value.gt(one.value);
}

const isCountRaised = (before: number | null, after: number | null): boolean =>
  before !== null && (after === null || after > before);

function isCoolDownShorter(before: RiskLimits, after: RiskLimits): boolean {
  if (before.maxLossesInARow === null || after.cooldownMinutes === null) return false;
  return before.cooldownMinutes === null || after.cooldownMinutes < before.cooldownMinutes;
}

const isScheduleWithin = (after: TradingHours | null, before: TradingHours | null): boolean =>
  before === null || (after !== null && isWithinOther(after, before));

const isAllowed = (tokens: readonly string[] | null, by: readonly string[] | null): boolean =>
  by === null || tokens?.every((token) => by.includes(token)) === true;
