import { formatInstant } from '../lib/format.ts';

/**
 * What a clock in the time zone shows, as if it were UTC: the chart library knows no time zones. It wants rising
 * times, so the hour that an autumn night has twice goes on by seconds; `instants` still says the true ones.
 */
export function wallClockSeconds(instants: readonly string[], timeZone: string): number[] {
  let last = Number.NEGATIVE_INFINITY;
  return instants.map((instant) => {
    const [date = '', time = ''] = formatInstant(instant, timeZone).split(' ');
    last = Math.max(Date.parse(`${date.replaceAll('/', '-')}T${time}Z`) / 1000, last + 1);
    return last;
  });
}
