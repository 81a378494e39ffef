import { BASE_TIMEFRAMES, sameTimeframe, timeframeMinutes } from '#domain/timeframe.ts';
import { MOST_CHOICES } from '#server/platform/db/list-totals/list-choices.ts';

/**
 * The choices of the settings form: the usual ones, then those seen that are none of them in other words. Of more than
 * fifty the first ones given come in: signals before candles.
 */
export function signalTimeframes(seen: { signals: readonly string[]; candles: readonly string[] }): string[] {
  const others: string[] = [];
  for (const timeframe of [...seen.signals, ...seen.candles]) {
    const isKnown = [...BASE_TIMEFRAMES, ...others].some(
      (one) => one === timeframe || sameTimeframe(one, timeframe),
    );
    if (!isKnown && BASE_TIMEFRAMES.length + others.length < MOST_CHOICES) others.push(timeframe);
  }
  return [...BASE_TIMEFRAMES, ...others.sort(byLength)];
}

function byLength(one: string, other: string): number {
  const minutes = (timeframe: string) => timeframeMinutes(timeframe) ?? Number.MAX_SAFE_INTEGER;
  return minutes(one) - minutes(other) || one.localeCompare(other, 'en');
}
