import { formatInstant } from '../lib/format.ts';

/**
 * Wall-clock time of the time zone in seconds, as if it were UTC, because the chart library has no time zones. It
 * requires rising times, so the hour repeated in autumn advances by one second per point; the models' `instants` keep
 * the true times.
 */
export function wallClockSeconds(instants: readonly string[], timeZone: string): number[] {
  let last = Number.NEGATIVE_INFINITY;
  return instants.map((instant) => {
    const [date = '', time = ''] = formatInstant(instant, timeZone).split(' ');
    last = Math.max(Date.parse(`${date.replaceAll('/', '-')}T${time}Z`) / 1000, last + 1);
    return last;
  });
}
