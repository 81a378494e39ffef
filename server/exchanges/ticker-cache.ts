import { isFresh } from '#server/platform/clock.ts';

/**
 * One request at a time per key; results are kept for `maxAgeMs` and while they are usable, failures are not. Not
 * lru-cache: there an age of 0 means forever, and null is not a value.
 */
export function createTickerCache<T>({ now, maxAgeMs }: { now: () => Date; maxAgeMs: number }) {
  const entries = new Map<string, Entry<T>>();
  return {
    get(key: string, fetch: () => Promise<T>, isUsable: (value: T) => boolean = () => true): Promise<T> {
      const known = entries.get(key);
      if (known !== undefined && isKept(known)) return known.value;
      const entry: Entry<T> = { at: now(), value: fetch(), settled: null };
      entries.set(key, entry);
      const forget = () => {
        if (entries.get(key) === entry) entries.delete(key);
      };
      entry.value.then((value) => {
        entry.settled = { value };
        entry.at = now();
      }, forget);
      return entry.value;

      function isKept({ at, settled }: Entry<T>): boolean {
        if (settled === null) return true;
        return isFresh({ at, maxAgeMs, now: now() }) && isUsable(settled.value);
      }
    },
  };
}

interface Entry<T> {
  at: Date;
  value: Promise<T>;
  /** Null while it is fetched. */
  settled: { value: T } | null;
}
