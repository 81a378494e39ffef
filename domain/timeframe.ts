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

const WORD_MINUTES: Readonly<Record<string, number>> = {
  ...Object.fromEntries(['min', 'mins', 'minute', 'minutes'].map((word) => [word, 1])),
  ...Object.fromEntries(['hour', 'hours'].map((word) => [word, 60])),
  ...Object.fromEntries(['day', 'days'].map((word) => [word, 1_440])),
  ...Object.fromEntries(['week', 'weeks'].map((word) => [word, 10_080])),
};
/** `15min`, `4 Hours`, `1 DAY`, and the letters with a blank: `15 m`. */
const UNITS_AFTER = [
  ...Object.keys(UNIT_MINUTES).filter((unit) => unit !== ''),
  ...Object.keys(WORD_MINUTES).flatMap((word) => [
    word,
    `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
    word.toUpperCase(),
  ]),
];
/** MetaTrader's `M15`, `H4`, `D1`, `W1`: in front of the number, `M` means minutes. */
const UNIT_IN_FRONT: Readonly<Record<string, number>> = { M: 1, H: 60, D: 1_440, W: 10_080 };
const BLANK_OR_NONE = ['', ' '];

/** The suffixes and prefixes that a timeframe can be written with, and the minutes of each. */
const SPELLINGS: readonly { before: string; after: string; minutes: number }[] = [
  ...UNITS_AFTER.flatMap((unit) =>
    BLANK_OR_NONE.map((blank) => ({
      before: '',
      after: `${blank}${unit}`,
      minutes: UNIT_MINUTES[unit] ?? WORD_MINUTES[unit.toLowerCase()] ?? 0,
    })),
  ),
  ...Object.entries(UNIT_IN_FRONT).flatMap(([unit, minutes]) =>
    [unit, unit.toLowerCase()].map((before) => ({ before, after: '', minutes })),
  ),
];
const minutesOfSpelling = new Map(
  SPELLINGS.map(({ before, after, minutes }) => [`${before}#${after}`, minutes]),
);

/** Unpadded spellings of so many minutes, beside the number with at most one letter behind it. */
export const otherSpellings = (minutes: number): string[] =>
  SPELLINGS.filter(
    ({ before, after, minutes: each }) => minutes % each === 0 && (before !== '' || after.length > 1),
  )
    .map(({ before, after, minutes: each }) => `${before}${minutes / each}${after}`)
    .filter((text) => timeframeMinutes(text) === minutes);

/** Minutes of a timeframe as received ('15', '15m', '15 min', 'M15', 'D'); null for seconds and everything unknown. */
export function timeframeMinutes(text: string): number | null {
  const match = /^(\d{0,5})([a-zA-Z]?)$/.exec(text.trim());
  if (match === null) {
    const [, before = '', count = '', after = ''] =
      /^([a-zA-Z]?)([1-9]\d{0,4})( ?[a-zA-Z]*)$/.exec(text.trim()) ?? [];
    const each = minutesOfSpelling.get(`${before}#${after}`);
    return each === undefined || count === '' ? null : Number(count) * each;
  }
  const [, digits = '', unit = ''] = match;
  const minutesPerUnit = UNIT_MINUTES[unit];
  if (minutesPerUnit === undefined || (digits === '' && unit === '')) return null;
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
