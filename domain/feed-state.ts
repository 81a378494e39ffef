export const FEED_STATES = ['learning', 'ok', 'late', 'silent', 'muted'] as const;
export type FeedState = (typeof FEED_STATES)[number];

/** After so many candles a series has a rhythm: its timeframe. */
export const CANDLES_OF_A_RHYTHM = 3;
const LEAST_GRACE_SECONDS = 120;
const LATE_CANDLES = 2;

export interface WatchedFeed {
  /** Up to `CANDLES_OF_A_RHYTHM`. */
  candles: number;
  /** Null for a timeframe that has no minutes: such a feed is always learning. */
  minutes: number | null;
  muted: boolean;
  /** Null: by the timeframe. */
  graceSeconds: number | null;
  lastReceivedAt: Date;
}

/** How late a candle may be: as set, or 10 % of the timeframe and at least two minutes. */
export const graceOf = ({ graceSeconds, minutes }: Pick<WatchedFeed, 'graceSeconds' | 'minutes'>): number =>
  graceSeconds ?? Math.max(LEAST_GRACE_SECONDS, Math.round((minutes ?? 0) * 6));

/**
 * The state of a feed. `countFrom`: candles that were due before are not missed, because nobody listened or the market
 * was closed; null outside the hours in which candles are expected.
 */
export function feedState(
  feed: WatchedFeed,
  { now, countFrom }: { now: Date; countFrom: Date | null },
): { state: FeedState; expectedAt: Date | null } {
  const { candles, minutes, muted, lastReceivedAt } = feed;
  if (minutes === null) return { state: muted ? 'muted' : 'learning', expectedAt: null };
  const candleMs = minutes * 60_000;
  const since = Math.max(lastReceivedAt.getTime(), countFrom?.getTime() ?? 0);
  const expectedAt = new Date(since + candleMs);
  if (muted) return { state: 'muted', expectedAt };
  if (candles < CANDLES_OF_A_RHYTHM) return { state: 'learning', expectedAt };
  const lateMs = now.getTime() - expectedAt.getTime();
  const graceMs = graceOf(feed) * 1_000;
  if (countFrom === null || lateMs <= graceMs) return { state: 'ok', expectedAt };
  return { state: lateMs > Math.max(graceMs, LATE_CANDLES * candleMs) ? 'silent' : 'late', expectedAt };
}

/** The candles that are missing between two that came, by their times. */
export function missingBetween(before: Date, after: Date, minutes: number): Date[] {
  const candleMs = minutes * 60_000;
  const apart = Math.round((after.getTime() - before.getTime()) / candleMs) - 1;
  return Array.from(
    { length: Math.max(0, Math.min(apart, MOST_MISSING)) },
    (_, index) => new Date(before.getTime() + (index + 1) * candleMs),
  );
}

const MOST_MISSING = 10_000;

/**
 * Seconds between the clocks of sender and receiver. A candle's time is that of its beginning or its end, so whole
 * candles do not count.
 */
export function skewSeconds(options: { candleTime: Date; receivedAt: Date; minutes: number }): number {
  const { candleTime, receivedAt, minutes } = options;
  const candleMs = minutes * 60_000;
  const apartMs = receivedAt.getTime() - candleTime.getTime();
  return Math.round((apartMs - Math.round(apartMs / candleMs) * candleMs) / 1_000);
}
