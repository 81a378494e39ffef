import { LRUCache } from 'lru-cache';

const WINDOW_MS = 60_000;
const ALLOWED = 20;
/** About 100 bytes each. */
const MOST_ADDRESSES = 10_000;

/** Counts a wrong webhook key or API token from an address; returns for how many seconds further ones are refused, or null. */
export type WrongKeys = (address: string) => number | null;

/** Against noise, not guessing: keys are 32 random bytes. Counts only wrong keys, so it never refuses a valid one. */
export function createWrongKeys({
  nowMs,
  mostAddresses = MOST_ADDRESSES,
}: {
  nowMs: () => number;
  mostAddresses?: number;
}): WrongKeys {
  const createMinutes = () =>
    new LRUCache<string, { count: number }>({
      max: mostAddresses,
      ttl: WINDOW_MS,
      ttlResolution: 0,
      perf: { now: nowMs },
      memoMethod: () => ({ count: 0 }),
    });
  // Allocates room for all addresses at once, and many programs never see a wrong key.
  let minutes: ReturnType<typeof createMinutes> | undefined;
  return (address) => {
    minutes ??= createMinutes();
    const minute = minutes.memo(address);
    minute.count += 1;
    if (minute.count <= ALLOWED) return null;
    return Math.max(1, Math.ceil(minutes.getRemainingTTL(address) / 1_000));
  };
}
