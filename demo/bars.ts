import type { Bar } from './walk.ts';

export const BASE_MINUTES = 5;
export const TIMEFRAMES_MINUTES = [5, 15, 60, 240] as const;
export type TimeframeMinutes = (typeof TIMEFRAMES_MINUTES)[number];

export const MINUTE_MS = 60_000;

/** Joins base bars to bars of a longer timeframe; answers one with the base bar that completes it, else null. */
export function createJoin(timeframeMinutes: TimeframeMinutes): (bar: Bar, closeTime: Date) => Bar | null {
  let joined: Bar | null = null;
  return (bar, closeTime) => {
    joined =
      joined === null
        ? { ...bar }
        : {
            open: joined.open,
            high: Math.max(joined.high, bar.high),
            low: Math.min(joined.low, bar.low),
            close: bar.close,
            volume: joined.volume + bar.volume,
          };
    if (closeTime.getTime() % (timeframeMinutes * MINUTE_MS) !== 0) return null;
    const complete = joined;
    joined = null;
    return complete;
  };
}
