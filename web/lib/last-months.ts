import { toWallClock } from './wall-clock.ts';

const MONTHS = 24;

/** The current month of the zone and those before it, as 'yyyy-MM'. */
export function lastMonths(now: Date, timeZone: string): string[] {
  const [year = 0, month = 0] = toWallClock(now.toISOString(), timeZone).split('-').map(Number);
  return Array.from({ length: MONTHS }, (_, ago) =>
    new Date(Date.UTC(year, month - 1 - ago)).toISOString().slice(0, 'yyyy-MM'.length),
  );
}
