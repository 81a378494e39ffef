const MINUTE_MS = 60_000;
/** Epoch seconds have 10 digits and epoch milliseconds 13 from 2001 to 2286; 12 digits are yyyymmddhhmm. */
const EPOCH_SECONDS = { from: 1e9, to: 1e10 };
const EPOCH_MILLISECONDS = { from: 1e12, to: 1e13 };

const CANDLE_TIME = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})$/;
const ISO_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d{2}):?(\d{2}))?)?$/i;

/** Reads 'yyyymmddhhmm' as UTC; null when it is not a valid time, such as 30 February. */
export function parseCandleTime(text: string): Date | null {
  const [, year, month, day, hour, minute] = CANDLE_TIME.exec(text.trim()) ?? [];
  return year === undefined ? null : utc({ year, month, day, hour, minute });
}

/** Reads a signal's time field: ISO 8601 (UTC without a zone), epoch seconds or milliseconds, or yyyymmddhhmm. */
export function parseSignalTime(value: unknown): Date | null {
  if (typeof value === 'number') return Number.isFinite(value) ? fromNumber(value) : null;
  if (typeof value !== 'string') return null;
  const text = value.trim();
  return /^\d{1,13}$/.test(text) ? fromNumber(Number(text)) : fromIso(text);
}

function fromNumber(value: number): Date | null {
  if (value >= EPOCH_SECONDS.from && value < EPOCH_SECONDS.to) return new Date(Math.floor(value * 1000));
  if (value >= EPOCH_MILLISECONDS.from && value < EPOCH_MILLISECONDS.to) return new Date(Math.floor(value));
  return parseCandleTime(String(value));
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
