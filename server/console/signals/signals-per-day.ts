import { type SQL, sql } from 'drizzle-orm';
import type { SignalStats } from '#contract/signals.ts';
import { calendarDay, dayStart } from '#server/platform/day-start.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { readCounted } from '#server/platform/db/list-totals/count-list.ts';

export const DAYS_SHOWN = 30;
const DAY_MS = 86_400_000;

/** A calendar day (yyyy-MM-dd) in the display time zone and the instant when it began. */
export interface Day {
  day: string;
  start: Date;
}

/** The last 30 days up to today. Cached until the day ends, because finding the starts is slow. */
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

/** 24 hours earlier, except on the two days a year when the clock changes. */
function startOfDayBefore(start: Date, timeZone: string): Date {
  const guess = start.getTime() - DAY_MS;
  const isStart = calendarDay(new Date(guess), timeZone) !== calendarDay(new Date(guess - 1), timeZone);
  return isStart ? new Date(guess) : dayStart(new Date(start.getTime() - 1), timeZone);
}

/**
 * Counts for the stat cards and for each day, zeros included; the last day is today. Totals are kept per quarter of an
 * hour, because the days of every time zone begin on one.
 */
export async function readSignalStats(db: Queryable, days: readonly Day[]): Promise<SignalStats> {
  const starts = sql`array[${sql.join(
    days.map(({ start }) => sql`${start.toISOString()}::timestamptz`),
    sql`, `,
  )}]`;
  const dayOf = (at: SQL) => sql`width_bucket(${at}, ${starts})`;
  const isShown = (at: SQL) => sql`${at} >= ${(days[0]?.start ?? new Date(0)).toISOString()}::timestamptz`;
  const rows = await readCounted<{ number: number; action: string; count: string }>(
    db,
    'signals',
    (before) => sql`
      select number, action, sum(rows) as count
      from (
        select 0 as number, action, rows from list_totals where list = 'signals'
        union all
        select 0, action, count(*) from signals where id >= ${before} group by action
        union all
        select ${dayOf(sql`since`)}, action, rows from signal_totals_by_quarter where ${isShown(sql`since`)}
        union all
        select ${dayOf(sql`received_at`)}, action, count(*) from signals
        where id >= ${before} and ${isShown(sql`received_at`)} group by 1, 2
      ) as parts
      group by number, action`,
  );
  const sum = (fits: (row: (typeof rows)[number]) => boolean) =>
    rows.filter(fits).reduce((total, { count }) => total + Number(count), 0);
  const onDay = (number: number) => sum((row) => row.number === number);
  return {
    totalSignals: onDay(0),
    todaySignals: onDay(days.length),
    buySignals: sum(({ number, action }) => number === 0 && action === 'buy'),
    sellSignals: sum(({ number, action }) => number === 0 && action === 'sell'),
    perDay: days.map(({ day }, index) => ({ day, count: onDay(index + 1) })),
  };
}
