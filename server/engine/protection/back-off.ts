import type { Clock } from '#server/platform/clock.ts';

interface BackOff {
  isWaiting(name: string): boolean;
  /** Doubles the next wait; call after a try or a failure. */
  note(name: string): void;
  forget(name: string): void;
}

/** Retries by name, less and less often. Kept in memory: after a restart every name is tried once. */
export function createBackOff(options: { clock: Clock; firstMs: number; longestMs: number }): BackOff {
  const { clock, firstMs, longestMs } = options;
  const waits = new Map<string, { waitMs: number; until: number }>();
  const now = () => clock.now().getTime();
  return {
    isWaiting: (name) => (waits.get(name)?.until ?? 0) > now(),
    note(name) {
      const before = waits.get(name);
      const waitMs = before === undefined ? firstMs : Math.min(before.waitMs * 2, longestMs);
      waits.set(name, { waitMs, until: now() + waitMs });
      // Drop entries that expired long ago.
      for (const [one, { until }] of waits) if (until + longestMs < now()) waits.delete(one);
    },
    forget: (name) => void waits.delete(name),
  };
}
