import { parseTime } from '#domain/candle-time.ts';
import { formatInstant } from './format.ts';

/** The charting platform's time of a signal, in the display time zone; unreadable text stays as received. */
export function formatOriginalTime(original: string | null, timeZone: string): string {
  if (!original) return 'N/A';
  const instant = parseTime(original);
  return instant === null ? original : formatInstant(instant.toISOString(), timeZone);
}
