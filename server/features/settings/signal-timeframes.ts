import { BASE_TIMEFRAMES, sameTimeframe, timeframeMinutes } from '#domain/timeframe.ts';

/** The choices of the settings form: the usual ones, then those seen that are none of them in other words. */
export function signalTimeframes(seen: readonly string[]): string[] {
  const choices: string[] = [...BASE_TIMEFRAMES];
  for (const timeframe of [...seen].sort(byLength)) {
    if (!choices.some((choice) => choice === timeframe || sameTimeframe(choice, timeframe))) {
      choices.push(timeframe);
    }
  }
  return choices;
}

function byLength(one: string, other: string): number {
  const minutes = (timeframe: string) => timeframeMinutes(timeframe) ?? Number.MAX_SAFE_INTEGER;
  return minutes(one) - minutes(other) || one.localeCompare(other, 'en');
}
