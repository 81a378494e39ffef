import { gte, sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/database/database.ts';
import { signals } from '#server/platform/database/schema.ts';
import { calendarDay, dayStart } from '#server/platform/day-start.ts';

export const DAYS_SHOWN = 30;
const DAY_MS = 86_400_000;

/** A calendar day (yyyy-MM-dd) of the display time zone and the instant at which it began. */
export interface Day {
  day: string;
  start: Date;
}

/** The last 30 days, today the last of them. Remembered until the day is over: finding its start takes a while. */
export function createLastDays(timeZone: string): (now: Date) => Day[] {
  let known: Day[] = [];
  return (now) => {
    if (known.at(-1)?.day !== calendarDay(now, timeZone)) known = lastDays(now, timeZone);
    return known;
  };
}

function lastDays(now: Date, timeZone: string): Day[] {
  const toDay = (start: Date) => ({ day: calendarDay(start, timeZone), start });
  const days = [toDay(dayStart(now, timeZone))];
  for (let first = days[0]; first !== undefined && days.length < DAYS_SHOWN; first = days[0]) {
    days.unshift(toDay(startOfDayBefore(first.start, timeZone)));
  }
  return days;
}

/** 24 hours earlier, but for the two days of a year on which the clock is changed. */
function startOfDayBefore(start: Date, timeZone: string): Date {
  const guess = start.getTime() - DAY_MS;
  const isStart = calendarDay(new Date(guess), timeZone) !== calendarDay(new Date(guess - 1), timeZone);
  return isStart ? new Date(guess) : dayStart(new Date(start.getTime() - 1), timeZone);
}

/** How many signals were received on each of the days, zeros included. */
export async function countSignalsPerDay(
  db: Queryable,
  days: readonly Day[],
): Promise<{ day: string; count: number }[]> {
  const [first] = days;
  if (first === undefined) return [];
  const starts = sql`array[${sql.join(
    days.map(({ start }) => sql`${start.toISOString()}::timestamptz`),
    sql`, `,
  )}]`;
  const rows = await db
    .select({
      number: sql<number>`width_bucket(${signals.receivedAt}, ${starts})`,
      count: sql<number>`count(*)::int`,
    })
    .from(signals)
    .where(gte(signals.receivedAt, first.start))
    .groupBy(sql`1`);
  const counts = new Map(rows.map(({ number, count }) => [number, count]));
  return days.map(({ day }, index) => ({ day, count: counts.get(index + 1) ?? 0 }));
}
