import { calendarDay, dayStart } from './day-start.ts';

/** When a month ('2026-10') begins and ends in the time zone. */
export function monthBounds(month: string, timeZone: string): { from: Date; to: Date } {
  return { from: monthStart(month, timeZone), to: monthStart(nextMonth(month), timeZone) };
}

export const monthOf = (at: Date, timeZone: string): string =>
  calendarDay(at, timeZone).slice(0, 'yyyy-MM'.length);

/** '2026-12' → '2027-01'. */
export function nextMonth(month: string): string {
  const [year, number] = month.split('-').map(Number);
  return new Date(Date.UTC(year ?? 0, number ?? 1)).toISOString().slice(0, 'yyyy-MM'.length);
}

function monthStart(month: string, timeZone: string): Date {
  const first = `${month}-01`;
  // Zones are at most 14 hours ahead of UTC and 12 behind: one of these instants lies in the first day.
  const within = [12, 0, 23].map((hour) => new Date(Date.parse(first) + hour * 3_600_000));
  const inside = within.find((at) => calendarDay(at, timeZone) === first);
  if (inside === undefined) throw new Error(`${first} does not exist in ${timeZone}`);
  return dayStart(inside, timeZone);
}
