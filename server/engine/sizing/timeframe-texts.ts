import { timeframeMinutes } from '#domain/timeframe.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** The units that a timeframe can be written in; none at all is one of them. */
const UNITS = ['', ...LETTERS].flatMap((unit) => {
  const minutes = timeframeMinutes(`1${unit}`);
  return minutes === null ? [] : [{ unit, minutes }];
});
const MAX_DIGITS = 5;

/**
 * Every way to write a timeframe of the same minutes ('60', '1h', 'h', '01H', …), so that stored candles, which keep
 * their timeframe as received, can be looked up by equality; null for a timeframe that has no minutes.
 */
export function timeframeTexts(timeframe: string): string[] | null {
  const minutes = timeframeMinutes(timeframe);
  if (minutes === null) return null;
  return UNITS.filter((unit) => minutes % unit.minutes === 0).flatMap(({ unit, minutes: unitMinutes }) => {
    const digits = String(minutes / unitMinutes);
    const padded = Array.from({ length: MAX_DIGITS + 1 - digits.length }, (_, zeros) =>
      digits.padStart(digits.length + zeros, '0'),
    );
    const counts = digits === '1' && unit !== '' ? ['', ...padded] : padded;
    return counts.map((count) => `${count}${unit}`);
  });
}
