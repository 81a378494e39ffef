import { isProcessorName, sameProcessor } from '#domain/eligibility/processor.ts';
import { BASE_TIMEFRAMES, sameTimeframe, timeframeMinutes } from '#domain/timeframe.ts';
import { ANY_PROCESSOR, SIGNAL_PROCESSORS } from '#domain/user-settings.ts';
import { MOST_CHOICES } from '#server/platform/db/list-totals/list-choices.ts';

/** Processors for the settings form: the usual ones, then seen ones that settings accept. */
export function signalProcessors(seen: readonly string[]): string[] {
  const choices: string[] = [...SIGNAL_PROCESSORS, ANY_PROCESSOR];
  for (const processor of seen) {
    const isKnown = choices.some((choice) => sameProcessor(choice, processor));
    if (!isKnown && isProcessorName(processor)) choices.push(processor);
  }
  return choices.slice(0, MOST_CHOICES);
}

/**
 * Timeframes for the settings form: the usual ones, then seen ones that are not another spelling of a listed one. If
 * there are too many, signals take precedence over candles.
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
