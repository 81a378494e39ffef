import { LRUCache } from 'lru-cache';

const WINDOW_MS = 60_000;
const ALLOWED = 20;
/** About 100 bytes each. Whoever has more addresses than these gains nothing from being forgotten. */
const MOST_ADDRESSES = 10_000;

/** Counts a wrong key from an address; answers for how many seconds more of them are refused, or null. */
export type WrongKeys = (address: string) => number | null;

/**
 * Each instance counts for itself: keys are 32 random bytes, so this is about noise and not about guessing. It is asked
 * after the key has turned out to be wrong, so it cannot keep a valid one away.
 */
export function createWrongKeys({
  nowMs = () => performance.now(),
  mostAddresses = MOST_ADDRESSES,
}: {
  nowMs?: () => number;
  mostAddresses?: number;
} = {}): WrongKeys {
  const minutes = new LRUCache<string, { count: number }>({
    max: mostAddresses,
    ttl: WINDOW_MS,
    ttlResolution: 0,
    perf: { now: nowMs },
    memoMethod: () => ({ count: 0 }),
  });
  return (address) => {
    const minute = minutes.memo(address);
    minute.count += 1;
    if (minute.count <= ALLOWED) return null;
    return Math.max(1, Math.ceil(minutes.getRemainingTTL(address) / 1_000));
  };
}
