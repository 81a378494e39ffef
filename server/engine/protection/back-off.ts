import type { Clock } from '#server/platform/clock.ts';

interface BackOff {
  isWaiting(name: string): boolean;
  /** It failed, or was tried: the next wait is twice as long. */
  note(name: string): void;
  forget(name: string): void;
}

/** Who is tried less and less often. Kept in memory: after a restart everybody is tried once. */
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
      // Of what is long over nothing has to be remembered.
      for (const [one, { until }] of waits) if (until + longestMs < now()) waits.delete(one);
    },
    forget: (name) => void waits.delete(name),
  };
}
