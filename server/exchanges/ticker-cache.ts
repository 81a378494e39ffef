import { isFresh } from '#server/platform/clock.ts';

/**
 * One request at a time per key; results are kept for `maxAgeMs`, failures are not. Not lru-cache: there an age of 0
 * means forever, and null is not a value.
 */
export function createTickerCache<T>({ now, maxAgeMs }: { now: () => Date; maxAgeMs: number }) {
  const entries = new Map<string, { at: Date; value: Promise<T>; settled: boolean }>();
  return {
    get(key: string, fetch: () => Promise<T>): Promise<T> {
      const known = entries.get(key);
      if (known && (!known.settled || isFresh({ at: known.at, maxAgeMs, now: now() }))) return known.value;
      const entry = { at: now(), value: fetch(), settled: false };
      entries.set(key, entry);
      const forget = () => {
        if (entries.get(key) === entry) entries.delete(key);
      };
      entry.value.then(() => {
        entry.settled = true;
        entry.at = now();
      }, forget);
      return entry.value;
    },
  };
}
