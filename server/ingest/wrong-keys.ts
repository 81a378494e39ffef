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
  // In the order in which their minutes began: what has ended comes first.
  const minutes = new Map<string, { endsAtMs: number; count: number }>();

  function forgetEnded(now: number): void {
    for (const [address, { endsAtMs }] of minutes) {
      if (endsAtMs > now && minutes.size < mostAddresses) return;
      minutes.delete(address);
    }
  }

  return (address) => {
    const now = nowMs();
    const minute = minutes.get(address);
    if (minute !== undefined && minute.endsAtMs > now) {
      minute.count += 1;
      return minute.count > ALLOWED ? Math.ceil((minute.endsAtMs - now) / 1_000) : null;
    }
    minutes.delete(address);
    forgetEnded(now);
    minutes.set(address, { endsAtMs: now + WINDOW_MS, count: 1 });
    return null;
  };
}
