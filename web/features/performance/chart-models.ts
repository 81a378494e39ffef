import type { CalendarAnswer } from '#contract/performance.ts';
import { addDays } from './performance-range.ts';

export type DayNet = CalendarAnswer['days'][number];

/** The cumulative net at the end of each day of the range, and how far it is below its highest value. For display. */
export function netPicture(
  days: readonly DayNet[],
  { first, last }: { first: string; last: string },
): { day: string; total: number; fall: number }[] {
  const nets = new Map(days.map(({ day, net }) => [day, Number(net)]));
  const points: { day: string; total: number; fall: number }[] = [];
  let [total, highest] = [0, 0];
  for (let day = first; day <= last && points.length < MOST_POINTS; day = addDays(day, 1)) {
    total += nets.get(day) ?? 0;
    highest = Math.max(highest, total);
    points.push({ day, total, fall: highest - total });
  }
  return points;
}

/** Ten years. */
const MOST_POINTS = 3_653;

export interface CalendarCell {
  day: string;
  isInRange: boolean;
  /** Without cents, with its sign. */
  net: string;
  /** -4 to 4: how deep the colour is. */
  step: number;
  unknown: number;
}

const STEP_USDT = 75;
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0, signDisplay: 'exceptZero' });

/** The weeks of the range from Sunday to Saturday, at most the last so many. */
export function calendarWeeks(
  days: readonly DayNet[],
  { first, last, most }: { first: string; last: string; most: number },
): CalendarCell[][] {
  const known = new Map(days.map((one) => [one.day, one]));
  const sundayOf = (day: string) => addDays(day, -new Date(day).getUTCDay());
  const lastSunday = sundayOf(last);
  const wanted = sundayOf(first);
  const earliest = addDays(lastSunday, -7 * (most - 1));
  const start = [wanted, earliest].toSorted().at(-1) ?? wanted;
  const weeks: CalendarCell[][] = [];
  for (let sunday = start; sunday <= lastSunday; sunday = addDays(sunday, 7)) {
    weeks.push(
      Array.from({ length: 7 }, (_, weekday) => {
        const day = addDays(sunday, weekday);
        const { net = '0', unknown = 0 } = known.get(day) ?? {};
        return {
          day,
          isInRange: day >= first && day <= last,
          net: whole.format(Number(net)).replace('-', '−'),
          step: stepOf(Number(net)),
          unknown,
        };
      }),
    );
  }
  return weeks;
}

const stepOf = (net: number) => Math.sign(net) * Math.min(4, Math.ceil(Math.abs(net) / STEP_USDT));
