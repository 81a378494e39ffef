import { useFormatInstant } from '../lib/use-format-instant.ts';

const INSTANT = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;

/** Sentences of the trading rules name instants in UTC; shown, they stand in the display time zone like all others. */
export function useReadableInstants(): (sentence: string) => string {
  const formatInstant = useFormatInstant();
  return (sentence) => sentence.replaceAll(INSTANT, (instant) => formatInstant(instant));
}
