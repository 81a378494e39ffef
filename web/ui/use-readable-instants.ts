import { useFormatInstant } from '../lib/use-format-instant.ts';

const INSTANT = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;

/** Converts UTC instants in sentences of the trading rules to the display time zone. */
export function useReadableInstants(): (sentence: string) => string {
  const formatInstant = useFormatInstant();
  return (sentence) => sentence.replaceAll(INSTANT, (instant) => formatInstant(instant));
}
