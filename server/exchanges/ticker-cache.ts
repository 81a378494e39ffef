/** How long one price serves all callers: fewer requests, and still younger than any decision made with it. */
const MAX_AGE_MS = 1_000;

export interface TickerCache<T> {
  get(key: string, fetch: () => Promise<T>): Promise<T>;
}

/** One request at a time for each key; its result, but never its failure, is kept for a second. */
export function createTickerCache<T>(now: () => Date): TickerCache<T> {
  const entries = new Map<string, { at: number; value: Promise<T>; settled: boolean }>();
  return {
    get(key, fetch) {
      const known = entries.get(key);
      if (known && (!known.settled || now().getTime() - known.at < MAX_AGE_MS)) return known.value;
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
