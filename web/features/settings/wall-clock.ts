import { formatInstant } from '../../lib/format.ts';

/** Instants as the text of a date-and-time field ('2026-03-08T02:30'), on the clocks of a time zone. */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export function toWallClock(instant: string | null, timeZone: string): string {
  return instant === null ? '' : wallClockOf(new Date(instant).getTime(), timeZone);
}

/**
 * The instant at which the clocks show the text; null when it is not a time. An hour that the clocks show twice is
 * the earlier one; one that they leave out is as much later as they are put forward.
 */
export function fromWallClock(text: string, timeZone: string): string | null {
  const asUtcMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
  if (Number.isNaN(asUtcMs)) return null;
  // The clocks are changed at most once within two days.
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
