import { formatInstant } from './format.ts';

/** Converts instants to and from the text of a date-and-time field ('2026-03-08T02:30') in a time zone. */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export function toWallClock(instant: string | null, timeZone: string): string {
  return instant === null ? '' : wallClockOf(new Date(instant).getTime(), timeZone);
}

/**
 * The instant of a wall-clock time; null for an invalid one. For an hour repeated when the clocks go back it is the
 * earlier instant. A time skipped when they go forward is moved by the amount of the change.
 */
export function fromWallClock(text: string, timeZone: string): string | null {
  const asUtcMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
  if (Number.isNaN(asUtcMs)) return null;
  // Clocks change at most once within two days.
  const withOffsetOf = (atMs: number) => asUtcMs - offsetMs(atMs, timeZone);
  const earlier = withOffsetOf(asUtcMs - DAY_MS);
  const later = withOffsetOf(asUtcMs + DAY_MS);
  const shown = [earlier, later].find((instantMs) => wallClockOf(instantMs, timeZone) === text);
  return new Date(shown ?? earlier).toISOString();
}

function offsetMs(instantMs: number, timeZone: string): number {
  const wholeMinute = Math.floor(instantMs / MINUTE_MS) * MINUTE_MS;
  return Date.parse(`${wallClockOf(wholeMinute, timeZone)}Z`) - wholeMinute;
}

function wallClockOf(instantMs: number, timeZone: string): string {
  const [date = '', time = ''] = formatInstant(new Date(instantMs).toISOString(), timeZone).split(' ');
  return `${date.replaceAll('/', '-').padStart('yyyy-MM-dd'.length, '0')}T${time.slice(0, 'HH:mm'.length)}`;
}
