import type { LimitRefusal } from './rate-limits.ts';

/** Several users refused at one address within this time: it is the address. */
const TOGETHER_MS = 2_000;
const TOGETHER = 3;
const FIRST_MS = 5_000;
const LONGEST_MS = 600_000;
/** Quiet for so long after a hold, the next one is a first one again. */
const FORGET_MS = 60_000;

interface Trouble {
  refused: Map<string, number>;
  holds: number;
  untilMs: number;
}

/**
 * When a whole address is held back, and for how long. Exchanges do not say how long they stay angry, and every request
 * meanwhile may make it longer: each hold that was too short is followed by one twice as long.
 */
export function createEgressHolds() {
  const troubles = new Map<string, Trouble>();

  function troubleOf(egress: string): Trouble {
    const known = troubles.get(egress);
    if (known) return known;
    const fresh = { refused: new Map<string, number>(), holds: 0, untilMs: 0 };
    troubles.set(egress, fresh);
    return fresh;
  }

  return {
    /** Null: only the one limit is concerned. */
    holdMs(options: { egress: string; bucket: string; refusal: LimitRefusal; nowMs: number }): number | null {
      const { egress, bucket, refusal, nowMs } = options;
      const trouble = troubleOf(egress);
      if (refusal.of === 'bucket') {
        trouble.refused.set(bucket, nowMs);
        for (const [key, atMs] of trouble.refused)
          if (nowMs - atMs > TOGETHER_MS) trouble.refused.delete(key);
        if (trouble.refused.size < TOGETHER) return null;
      }
      // Answers to what had left before the hold say nothing new.
      if (nowMs < trouble.untilMs && refusal.waitMs === null) return null;
      if (nowMs > trouble.untilMs + FORGET_MS) trouble.holds = 0;
      const ownMs = FIRST_MS * 2 ** trouble.holds;
      const waitMs = Math.min(refusal.of === 'egress' ? (refusal.waitMs ?? ownMs) : ownMs, LONGEST_MS);
      trouble.holds += 1;
      trouble.untilMs = nowMs + waitMs;
      trouble.refused.clear();
      return waitMs;
    },
  };
}
