const instantFormats = new Map<string, Intl.DateTimeFormat>();

function instantFormat(timeZone: string): Intl.DateTimeFormat {
  let format = instantFormats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    });
    instantFormats.set(timeZone, format);
  }
  return format;
}

/** yyyy/MM/dd HH:mm:ss in the given time zone; 'N/A' for an absent or unreadable instant. */
export function formatInstant(instant: string | null | undefined, timeZone: string): string {
  const date = instant ? new Date(instant) : null;
  if (!date || Number.isNaN(date.getTime())) return 'N/A';
  const parts = Object.fromEntries(
    instantFormat(timeZone)
      .formatToParts(date)
      .map(({ type, value }) => [type, value]),
  );
  return `${parts.year}/${parts.month}/${parts.day} ${parts.hour}:${parts.minute}:${parts.second}`;
}

export const twoDecimals = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
const wholeNumber = new Intl.NumberFormat('en-US');

export type Figure = string | number | null | undefined;

export function toNumber(value: Figure): number | null {
  if (value === null || value === undefined || value === '') return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/** A $ sign and exactly 2 decimals; 'Unknown' for anything that is not a number. */
export function formatPrice(price: Figure): string {
  const number = toNumber(price);
  return number === null ? 'Unknown' : `$${twoDecimals.format(number)}`;
}

/** Fixed decimals without grouping; a dash for null. */
export function formatDecimals(value: Figure, decimals: number): string {
  const number = toNumber(value);
  return number === null ? '–' : number.toFixed(decimals);
}

/** A stored fraction as a percentage: 0.05 is '5.0%' with one decimal. */
export function formatFraction(fraction: Figure, decimals: number): string {
  const number = toNumber(fraction);
  return number === null ? '–' : `${(number * 100).toFixed(decimals)}%`;
}

/** Grouped digits; a dash for a count missing from the answer. */
export const formatCount = (count: number): string =>
  Number.isFinite(count) ? wholeNumber.format(count) : '–';

/** Like `formatCount`, without grouping. */
export const plainCount = (count: number): string => (Number.isFinite(count) ? String(count) : '–');

export const formatLeverage = (leverage: number): string =>
  Number.isFinite(leverage) ? `${leverage}x` : '–';

/** Undefined when the total is unknown. */
export const countPages = (total: number | undefined, pageSize: number): number | undefined =>
  total === undefined || Number.isNaN(total) ? undefined : Math.ceil(total / pageSize);

/** Truncates instead of rounding: 59.96 s is not '60.0s'. */
const cutTenth = (value: number): string => (Math.floor(value * 10) / 10).toFixed(1);

/** ms under a second, s under a minute, min under an hour, else hours with one decimal. */
export function formatDuration(durationMs: number | null | undefined): string {
  if (durationMs === null || durationMs === undefined || !Number.isFinite(durationMs)) return '–';
  if (durationMs < 1000) return `${Math.floor(durationMs)}ms`;
  if (durationMs < 60_000) return `${cutTenth(durationMs / 1000)}s`;
  if (durationMs < 3_600_000) return `${cutTenth(durationMs / 60_000)}m`;
  return `${cutTenth(durationMs / 3_600_000)}h`;
}

export function durationBetween(start: string | null, end: string | null): number | null {
  if (!start || !end) return null;
  const durationMs = new Date(end).getTime() - new Date(start).getTime();
  return Number.isFinite(durationMs) ? durationMs : null;
}

/** '3 minutes ago', relative to the caller's clock. */
export function formatRelative(instant: string, nowMs: number): string {
  const seconds = Math.round((new Date(instant).getTime() - nowMs) / 1000);
  if (!Number.isFinite(seconds)) return 'N/A';
  const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  const size = Math.abs(seconds);
  if (size < 60) return relative.format(seconds, 'second');
  if (size < 3600) return relative.format(Math.round(seconds / 60), 'minute');
  if (size < 86_400) return relative.format(Math.round(seconds / 3600), 'hour');
  return relative.format(Math.round(seconds / 86_400), 'day');
}

/** First and last four characters of an id with at least `fromLength` characters. */
export function shortId(id: string, fromLength: number): string {
  return id.length < fromLength ? id : `${id.slice(0, 4)}...${id.slice(-4)}`;
}

export const truncate = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}...` : text;

export const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
