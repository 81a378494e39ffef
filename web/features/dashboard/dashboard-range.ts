import { fromWallClock, toWallClock } from '../../lib/wall-clock.ts';
import type { DashboardSearch } from './dashboard-search.ts';

export const RANGES = [
  { range: 'today', label: 'Today', days: 0 },
  { range: undefined, label: '7 d', days: 7 },
  { range: '30d', label: '30 d', days: 30 },
  { range: 'all', label: 'All', days: null },
] as const;

const HOUR_MS = 3_600_000;

/** When the range begins, at a whole hour so that the question stays the same for an hour. */
export function startOf(range: DashboardSearch['range'], timeZone: string): string | undefined {
  const days = RANGES.find((one) => one.range === range)?.days ?? null;
  if (days === null) return undefined;
  const now = new Date();
  if (days === 0)
    return (
      fromWallClock(`${toWallClock(now.toISOString(), timeZone).slice(0, 10)}T00:00`, timeZone) ?? undefined
    );
  return new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS - days * 24 * HOUR_MS).toISOString();
}
