const MINUTE_MS = 60_000;
/** Epoch seconds have 10 digits and epoch milliseconds 13 from 2001 to 2286; 12 digits are yyyymmddhhmm. */
const EPOCH_SECONDS = { from: 1e9, to: 1e10 };
const EPOCH_MILLISECONDS = { from: 1e12, to: 1e13 };

const CANDLE_TIME = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?$/;
const ISO_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d{2}):?(\d{2}))?)?$/i;

const HTTP_TIME =
  /^(?:([a-z]{3}), ?)?(\d{1,2}) ([a-z]{3}) (\d{4}) (\d{2}):(\d{2})(?::(\d{2}))? (?:GMT|UTC?|Z|([+-]\d{2}):?(\d{2}))$/i;
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const WEEKDAYS = 'sun mon tue wed thu fri sat'.split(' ');

/**
 * The one reader of times in alerts, of signals and candles alike. UTC where no zone is given: ISO 8601 with `T` or a
 * blank, `yyyymmddhhmm` with or without seconds, epoch seconds or milliseconds, RFC 1123. Null when it is not a valid
 * time, such as 30 February.
 */
export function parseTime(value: unknown): Date | null {
  if (typeof value === 'number') return Number.isFinite(value) ? fromNumber(value) : null;
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (/^\d{1,14}(?:\.\d{1,9})?$/.test(text)) return fromDigits(text) ?? fromNumber(Number(text));
  return fromIso(text) ?? fromHttpDate(text);
}

/** `yyyymmddhhmm`, with or without seconds. */
function fromDigits(text: string): Date | null {
  const [, year, month, day, hour, minute, second] = CANDLE_TIME.exec(text) ?? [];
  return year === undefined ? null : utc({ year, month, day, hour, minute, second });
}

function fromNumber(value: number): Date | null {
  if (value >= EPOCH_SECONDS.from && value < EPOCH_SECONDS.to) return new Date(Math.floor(value * 1000));
  if (value >= EPOCH_MILLISECONDS.from && value < EPOCH_MILLISECONDS.to) return new Date(Math.floor(value));
  return fromDigits(String(value));
}

function fromHttpDate(text: string): Date | null {
  const [, weekday, day, monthName, year, hour, minute, second, zone = '+00', zoneMinutes = '00'] =
    HTTP_TIME.exec(text) ?? [];
  if (year === undefined || day === undefined) return null;
  const month = MONTHS.indexOf((monthName ?? '').toLowerCase()) + 1;
  const twoDigits = (part: string | number) => String(part).padStart(2, '0');
  const time = `${hour}:${minute}:${second ?? '00'}${zone}:${zoneMinutes}`;
  const instant = fromIso(`${year}-${twoDigits(month)}-${twoDigits(day)}T${time}`);
  if (weekday === undefined || instant === null) return instant;
  // A weekday that is not the date's is a contradiction.
  const local = fromIso(`${year}-${twoDigits(month)}-${twoDigits(day)}`);
  return local?.getUTCDay() === WEEKDAYS.indexOf(weekday.toLowerCase()) ? instant : null;
}

function fromIso(text: string): Date | null {
  const [, year, month, day, hour, minute, second, fraction, sign, zoneHours, zoneMinutes] =
    ISO_TIME.exec(text) ?? [];
  if (year === undefined || Number(zoneHours ?? 0) > 14 || Number(zoneMinutes ?? 0) > 59) return null;
  const local = utc({ year, month, day, hour, minute, second });
  if (local === null) return null;
  const zoneMs = (Number(zoneHours ?? 0) * 60 + Number(zoneMinutes ?? 0)) * MINUTE_MS;
  const milliseconds = Number((fraction ?? '').slice(0, 3).padEnd(3, '0'));
  const instant = new Date(local.getTime() + milliseconds - (sign === '-' ? -zoneMs : zoneMs));
  return hasYearOfFourDigits(instant) ? instant : null;
}

/** Clocks differ, and a candle may be stamped with the end of its bar. */
const LEAST_AHEAD_MINUTES = 5;

/**
 * Why an instant is too far ahead of its receipt: more than five minutes or, for a candle, more than one bar if that is
 * longer. Null when it is not. `barMinutes`: null for a signal, or a timeframe without minutes.
 */
export function describeAhead(options: {
  time: Date;
  receivedAt: Date;
  barMinutes: number | null;
}): string | null {
  const { time, receivedAt, barMinutes } = options;
  const limitMinutes = Math.max(LEAST_AHEAD_MINUTES, barMinutes ?? 0);
  const aheadMs = time.getTime() - receivedAt.getTime();
  if (aheadMs <= limitMinutes * MINUTE_MS) return null;
  return `is ${inWords(aheadMs)} ahead of its receipt, the limit is ${inWords(limitMinutes * MINUTE_MS)}`;
}

/** '8 h', '1 h 30 min', '5 min 1 s' */
function inWords(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** A zone offset may move an instant outside these years, and the database accepts no others. */
export function hasYearOfFourDigits(instant: Date): boolean {
  const year = instant.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

type Fields = Record<'year' | 'month' | 'day' | 'hour' | 'minute', string | undefined> & {
  second?: string | undefined;
};

/** Date.UTC carries overflowing fields over, so only a date that exists comes back unchanged. */
function utc({ year, month, day, hour = '0', minute = '0', second = '0' }: Fields): Date | null {
  const wanted = [year, month, day, hour, minute, second].map(Number);
  const [y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0] = wanted;
  const date = new Date(Date.UTC(y, mo - 1, d, h, mi, s));
  const got = [
    date.getUTCFullYear(),
    date.getUTCMonth() + 1,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  ];
  return got.every((part, index) => part === wanted[index]) ? date : null;
}
