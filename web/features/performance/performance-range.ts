import { fromWallClock, toWallClock } from '../../lib/wall-clock.ts';
import type { PerformanceSearch } from './performance-search.ts';

const DAY_MS = 86_400_000;
const DAY_LENGTH = 'yyyy-MM-dd'.length;

export const RANGES = [
  { range: 'today', label: 'Today', days: 1 },
  { range: '7d', label: '7 d', days: 7 },
  { range: undefined, label: '30 d', days: 30 },
  { range: '90d', label: '90 d', days: 90 },
  { range: 'all', label: 'All', days: null },
] as const;

export const GROUPS = [
  { by: undefined, group: 'processor', label: 'Strategy' },
  { by: 'user', group: 'user', label: 'User' },
  { by: 'token', group: 'token', label: 'Token' },
  { by: 'timeframe', group: 'timeframe', label: 'Timeframe' },
  { by: 'sizingMethod', group: 'sizingMethod', label: 'Sizing' },
  { by: 'side', group: 'side', label: 'Side' },
  { by: 'hour', group: 'hour', label: 'Hour' },
  { by: 'weekday', group: 'weekday', label: 'Weekday' },
] as const;

/** A day as the calendar of a zone shows it: 'yyyy-MM-dd'. */
export const today = (now: Date, timeZone: string) =>
  toWallClock(now.toISOString(), timeZone).slice(0, DAY_LENGTH);

export const addDays = (from: string, days: number) =>
  new Date(Date.parse(from) + days * DAY_MS).toISOString().slice(0, DAY_LENGTH);

/** The first and last day of the range; undefined where it is open. */
export function daysOf(
  { range, fromDay, toDay }: PerformanceSearch,
  { now, timeZone }: { now: Date; timeZone: string },
): { first: string | undefined; last: string | undefined } {
  if (fromDay !== undefined || toDay !== undefined) return { first: fromDay, last: toDay };
  const days = RANGES.find((one) => one.range === range)?.days ?? null;
  return { first: days === null ? undefined : addDays(today(now, timeZone), 1 - days), last: undefined };
}

export interface ResultQuery {
  from?: string | undefined;
  to?: string | undefined;
  userId?: string | undefined;
  processor?: string | undefined;
  token?: string | undefined;
}

/** What every panel asks for. */
export function resultQuery(search: PerformanceSearch, at: { now: Date; timeZone: string }): ResultQuery {
  const { first, last } = daysOf(search, at);
  const start = (of: string | undefined) =>
    of === undefined ? undefined : (fromWallClock(`${of}T00:00`, at.timeZone) ?? undefined);
  const { userId, processor, token } = search;
  return {
    from: start(first),
    to: start(last === undefined ? undefined : addDays(last, 1)),
    userId,
    processor,
    token,
  };
}
