import type { RiskLimitsAnswer, RiskUse } from '#contract/risk-limits.ts';
import { formatMoney } from '../../lib/figures.ts';
import { capitalise } from '../../lib/format.ts';

export const PROGRAM_LIMITS = '/api/risk-limits';
export const strategyLimits = (processor: string) =>
  `${PROGRAM_LIMITS}/strategies/${encodeURIComponent(processor)}`;
export const userLimits = (userId: string) => `${PROGRAM_LIMITS}/users/${encodeURIComponent(userId)}`;

export type Limits = RiskLimitsAnswer['limits'];
export type LimitName = Exclude<keyof Limits, 'cooldownMinutes' | 'schedule' | 'shrink' | 'onBreach'>;

/** In the order in which they are shown. */
export const LIMIT_LABELS: Record<LimitName, string> = {
  maxDailyLoss: 'Daily loss',
  maxDrawdown: 'Drawdown',
  maxOpenPositions: 'Open positions',
  maxExposure: 'Exposure',
  maxRisk: 'Risk to stops',
  maxLossesInARow: 'Losses in a row',
  maxEntriesPerMinute: 'Entries a minute',
  allowedTokens: 'Allowed tokens',
  blockedTokens: 'Blocked tokens',
};
export const LIMIT_NAMES = Object.keys(LIMIT_LABELS) as LimitName[];

export const limitLabel = (limit: string): string => LIMIT_LABELS[limit as LimitName] ?? limit;

export type UseLevel = 'low' | 'near' | 'reached';

/** Amber from 70 %, red when reached. */
const NEAR = 0.7;

/** How far a limit is used: a fraction from 0 to 1, and how urgent that is. */
export function levelOf({ used, maximum }: Pick<RiskUse, 'used' | 'maximum'>): {
  fraction: number;
  level: UseLevel;
} {
  const [taken, most] = [Number(used), Number(maximum)];
  const ratio = most > 0 ? taken / most : 1;
  const level = ratio >= 1 ? 'reached' : ratio >= NEAR ? 'near' : 'low';
  return { fraction: Math.min(1, Math.max(0, ratio)), level };
}

const money = (amount: string) => formatMoney(amount).replace(/\.00$/, '');

/** Used and maximum as they are shown; a share or a multiple keeps what it is of. */
export function showUse({ used, maximum, unit, written }: RiskUse): { used: string; maximum: string } {
  if (unit === 'count') return { used, maximum };
  const isShare = /[%x]$/.test(written);
  return { used: money(used), maximum: isShare ? `${money(maximum)} (${written})` : money(maximum) };
}

/** What follows when the limit is reached. */
export function consequenceOf(limit: string, limits: Limits): string {
  const closes = limits.onBreach === 'close' && STOPPING.includes(limit);
  return closes
    ? `${entriesAfter(limit, limits)}, and all positions are closed`
    : entriesAfter(limit, limits);
}

const STOPPING = ['maxDailyLoss', 'maxDrawdown', 'maxLossesInARow'];

function entriesAfter(limit: string, limits: Limits): string {
  switch (limit) {
    case 'maxDailyLoss':
      return 'then new entries stop until the next day';
    case 'maxDrawdown':
      return 'then new entries stop until an administrator resets it';
    case 'maxLossesInARow':
      return limits.cooldownMinutes === null
        ? 'then new entries stop until an administrator resets it'
        : `then new entries stop for ${limits.cooldownMinutes} min`;
    case 'maxExposure':
    case 'maxRisk':
      return limits.shrink ? 'larger entries are sized down to fit' : 'larger entries are denied';
    default:
      return 'further entries are denied';
  }
}

export type TradingHours = NonNullable<Limits['schedule']>;
export type TradingWindow = TradingHours['windows'][number];
type Weekday = TradingWindow['days'][number];

export const DAYS: readonly Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
export const dayName = (day: Weekday): string => capitalise(day);

/** Such as 'Mon–Fri 08:00–22:00'; days that follow each other are drawn together. */
export function showWindow({ days, from, to }: TradingWindow): string {
  const runs: Weekday[][] = [];
  for (const day of DAYS) {
    const run = runs.at(-1);
    if (!days.includes(day)) continue;
    if (run !== undefined && DAYS.indexOf(run.at(-1) ?? day) + 1 === DAYS.indexOf(day)) run.push(day);
    else runs.push([day]);
  }
  const names = runs.map((run) => {
    const [first = run[0], last] = [run[0], run.at(-1)];
    if (first === undefined || last === undefined) return '';
    return run.length > 2 ? `${dayName(first)}–${dayName(last)}` : run.map(dayName).join(', ');
  });
  return `${names.join(', ')} ${from}–${to}`;
}
