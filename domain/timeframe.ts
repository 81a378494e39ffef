/** The timeframes that the settings always offer; timeframes seen in signals follow. */
export const BASE_TIMEFRAMES = ['Any', '1m', '2m', '5m', '15m', '30m', '1h', '4h', '1d'] as const;
export const ANY_TIMEFRAME = 'Any';

/** `M` is a month on the charting platform and `m` our minute, so case matters for this letter. A month counts as 30 days. */
const UNIT_MINUTES: Readonly<Record<string, number>> = {
  '': 1,
  m: 1,
  h: 60,
  H: 60,
  d: 1_440,
  D: 1_440,
  w: 10_080,
  W: 10_080,
  M: 43_200,
};

/** Minutes of a timeframe as received ('15', '15m', '1h', 'D'); null for seconds and everything unknown. */
export function timeframeMinutes(text: string): number | null {
  const match = /^(\d{0,5})([a-zA-Z]?)$/.exec(text.trim());
  const [, digits = '', unit = ''] = match ?? [];
  const minutesPerUnit = UNIT_MINUTES[unit];
  if (match === null || minutesPerUnit === undefined || (digits === '' && unit === '')) return null;
  const count = digits === '' ? 1 : Number(digits);
  return count === 0 ? null : count * minutesPerUnit;
}

/** Compares in minutes; timeframes without minutes compare by their text. */
export function sameTimeframe(a: string, b: string): boolean {
  const minutesOfA = timeframeMinutes(a);
  const minutesOfB = timeframeMinutes(b);
  if (minutesOfA !== null || minutesOfB !== null) return minutesOfA === minutesOfB;
  return a.trim().toLowerCase() === b.trim().toLowerCase();
}

/** One timeframe per meaning ('15' and '15m' are one), shortest first; timeframes without minutes come last. */
export function distinctTimeframes(timeframes: readonly string[]): string[] {
  const firstOf = new Map<number | string, string>();
  for (const timeframe of timeframes) {
    const meaning = timeframeMinutes(timeframe) ?? timeframe.trim().toLowerCase();
    if (!firstOf.has(meaning)) firstOf.set(meaning, timeframe);
  }
  const minutes = (timeframe: string) => timeframeMinutes(timeframe) ?? Number.MAX_SAFE_INTEGER;
  return [...firstOf.values()].sort((a, b) => minutes(a) - minutes(b));
}

/** Whether a user with this setting wants a signal of this timeframe; Any or no setting wants all. */
export function matchesTimeframe(userSetting: string | null | undefined, signalTimeframe: string): boolean {
  const wanted = userSetting?.trim() ?? '';
  if (wanted === '' || wanted.toLowerCase() === ANY_TIMEFRAME.toLowerCase()) return true;
  return sameTimeframe(wanted, signalTimeframe);
}

/** A timeframe as screens show it: a bare number of minutes gets its unit. */
export function displayTimeframe(text: string): string {
  return /^\d+$/.test(text) ? `${text}m` : text;
}

/** When the next candle of a series closes, reckoned from the time of an earlier one. */
export function nextCandleClose(options: { candleTime: Date; minutes: number; now: Date }): Date {
  const { candleTime, minutes, now } = options;
  const periodMs = minutes * 60_000;
  const passed = Math.floor((now.getTime() - candleTime.getTime()) / periodMs);
  return new Date(candleTime.getTime() + (passed + 1) * periodMs);
}
