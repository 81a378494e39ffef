import { parseSignalTime } from '#domain/candle-time.ts';
import { formatInstant } from './format.ts';

/** A signal's time as the charting platform sent it, shown like every other one; as it came where it cannot be read. */
export function formatOriginalTime(original: string | null, timeZone: string): string {
  if (!original) return 'N/A';
  const instant = parseSignalTime(original);
  return instant === null ? original : formatInstant(instant.toISOString(), timeZone);
}
