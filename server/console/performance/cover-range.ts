export const SPANS = ['hour', 'day', 'month'] as const;
/** Quarters of an hour. */
export const ORDER_SPANS = ['quarter', 'day', 'month'] as const;
export type Span = (typeof SPANS | typeof ORDER_SPANS)[number];

const LENGTHS_MS = { quarter: 900_000, hour: 3_600_000, day: 86_400_000 };

/** From `from` (included; null: from the beginning) to `to` (excluded; null: to the end). */
export interface Range {
  from: Date | null;
  to: Date | null;
}

/** A part of a range: whole spans in UTC, or the trades themselves where no span fits. */
export type Piece = Range & { source: Span | 'trades' };

/** Disjoint pieces that cover the range, with the longest allowed spans that fit. */
export function coverRange(range: Range, spans: readonly Span[]): Piece[] {
  const { from, to } = range;
  if (from !== null && to !== null && from >= to) return [];
  const span = spans.at(-1);
  if (span === undefined) return [{ ...range, source: 'trades' }];
  const shorter = spans.slice(0, -1);
  const first = from === null ? null : spanAtOrAfter(from, span);
  const last = to === null ? null : spanStart(to, span);
  if (first !== null && last !== null && first >= last) return coverRange(range, shorter);
  return [
    ...(first === null ? [] : coverRange({ from, to: first }, shorter)),
    { from: first, to: last, source: span },
    ...(last === null ? [] : coverRange({ from: last, to }, shorter)),
  ];
}

/** When the span that contains the instant began. */
export function spanStart(at: Date, span: Span): Date {
  if (span === 'month') return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth()));
  return new Date(Math.floor(at.getTime() / LENGTHS_MS[span]) * LENGTHS_MS[span]);
}

function spanAtOrAfter(at: Date, span: Span): Date {
  const start = spanStart(at, span);
  if (start.getTime() === at.getTime()) return start;
  if (span === 'month') return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1));
  return new Date(start.getTime() + LENGTHS_MS[span]);
}

/** Whether hours of the zone are hours of UTC, for all of the range (as far back as there are trades). */
export function hasWholeHours(timeZone: string, { from, to }: Range, now: Date): boolean {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, minute: 'numeric' });
  const last = (to ?? now).getTime();
  const earliest = Math.max((from ?? new Date(0)).getTime(), last - 10 * 366 * 86_400_000);
  for (let at = last; ; at -= 30 * 86_400_000) {
    const seen = new Date(Math.max(at, earliest));
    if (Number(format.format(seen)) !== seen.getUTCMinutes()) return false;
    if (at <= earliest) return true;
  }
}
