import { NOTICES, type NoticeCode, type NoticeData } from '#contract/notices.ts';
import { D } from '#domain/decimal.ts';

/** The text of a notice with its values; what is not known is shown as a dash. */
export function noticeText(code: NoticeCode, values: NoticeData, form: 'text' | 'many' = 'text'): string {
  const text = NOTICES[code][form].replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    return value === undefined || value === null ? '–' : String(value);
  });
  return text.replaceAll(/\s+/g, ' ').trim();
}

const MOST_REASONS = 3;

/** The three most frequent reasons, each with its number where there are several: `12 × No price`. */
export function topReasons(reasons: readonly string[]): string {
  const counts = [...Map.groupBy(reasons, (reason) => reason)].map(([reason, of]) => ({
    reason,
    count: of.length,
  }));
  const most = counts.toSorted((one, other) => other.count - one.count).slice(0, MOST_REASONS);
  const texts = most.map(({ reason, count }) => (count === 1 ? reason : `${count} × ${reason}`));
  const rest = counts.length - most.length;
  return `${texts.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}

/** A profit with its sign and two decimals. */
export function signedMoney(amount: string): string {
  const value = D(amount);
  const sign = value.isNegative() && !value.isZero() ? '−' : '+';
  return `${sign}${value.abs().toFixed(2)}`;
}

/** A span of time in the largest unit that fits: `3 min`, `26 h`. */
export function spanText(ms: number): string {
  if (ms < 90_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 90 * 60_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 72 * 3_600_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} days`;
}

/** An instant in the display time zone, to the minute. */
export const instantInZone = (at: Date, timeZone: string): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(at);
