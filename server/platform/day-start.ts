/** The instant at which the calendar day of `at` began in the time zone. */
export function dayStart(at: Date, timeZone: string): Date {
  const day = calendarDay(at, timeZone);
  // Midnight is at most 26 hours back (a day with a clock change may have 25 hours); halve the interval.
  let before = at.getTime() - 26 * 3_600_000;
  let inside = at.getTime();
  while (inside - before > 1) {
    const middle = Math.floor((before + inside) / 2);
    if (calendarDay(new Date(middle), timeZone) === day) inside = middle;
    else before = middle;
  }
  return new Date(inside);
}

/** yyyy-MM-dd in the time zone. */
export const calendarDay = (at: Date, timeZone: string): string => formatOf(timeZone).format(at);

/** Making one costs far more than using it, and the start of a day is looked for with 27. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  formats.set(timeZone, format);
  return format;
}
