/**
 * One request at a time for each key; its result, but never its failure, is kept for `maxAgeMs`. Not lru-cache: an age
 * of 0 means forever there, and null is no value.
 */
export function createTickerCache<T>({ now, maxAgeMs }: { now: () => Date; maxAgeMs: number }) {
  const entries = new Map<string, { at: number; value: Promise<T>; settled: boolean }>();
  return {
    get(key: string, fetch: () => Promise<T>): Promise<T> {
      const known = entries.get(key);
      if (known && (!known.settled || now().getTime() - known.at < maxAgeMs)) return known.value;
      const entry = { at: now().getTime(), value: fetch(), settled: false };
      entries.set(key, entry);
      const forget = () => {
        if (entries.get(key) === entry) entries.delete(key);
      };
      entry.value.then(() => {
        entry.settled = true;
        entry.at = now().getTime();
      }, forget);
      return entry.value;
    },
  };
}
