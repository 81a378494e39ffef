import { setTimeout as sleep } from 'node:timers/promises';

/** The source of the current time and of all waits; tests pass a clock that they move themselves. */
export interface Clock {
  now(): Date;
  /** Milliseconds since any moment. Goes on evenly when the machine's time is set: for durations and deadlines. */
  monotonicMs(): number;
  /** Rejects as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `work` once, `ms` from now; returns a function that cancels it. Does not keep the process alive. */
  after(ms: number, work: () => void): () => void;
  /** Calls `work` every `ms`, the first time `ms` from now; returns a function that stops it. */
  every(ms: number, work: () => void): () => void;
  /** A signal that is aborted with a `TimeoutError` in `ms`. */
  deadline(ms: number): AbortSignal;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
  after(ms, work) {
    const timer = setTimeout(work, ms).unref();
    return () => clearTimeout(timer);
  },
  every(ms, work) {
    const timer = setInterval(work, ms).unref();
    return () => clearInterval(timer);
  },
  deadline: (ms) => AbortSignal.timeout(ms),
};

/** Ends `ms` from now: the other side of a race with work that may take too long. Does not keep the process alive. */
export const timeLimit = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve);
  });

/** Clocks of instances that work side by side differ by less than this. */
const CLOCK_TOLERANCE_MS = 5_000;

/** Whether something from `at` is younger than `maxAgeMs`. From the future, after a step back of the clock, nothing is. */
export function isFresh({ at, maxAgeMs, now }: { at: Date; maxAgeMs: number; now: Date }): boolean {
  const ageMs = now.getTime() - at.getTime();
  return ageMs >= 0 && ageMs < maxAgeMs;
}

/** Whether `ms` have passed since `since`; after a step back of the clock behind it, they count as passed. */
export function hasElapsed({ since, ms, now }: { since: Date; ms: number; now: Date }): boolean {
  const elapsedMs = now.getTime() - since.getTime();
  return elapsedMs >= ms || elapsedMs < -CLOCK_TOLERANCE_MS;
}

/** Whether a wait is over. After a step back of the clock, a time further ahead than the longest wait of its kind is due. */
export function isDue({
  dueAt,
  longestWaitMs,
  now,
}: {
  dueAt: Date;
  longestWaitMs: number;
  now: Date;
}): boolean {
  const restMs = dueAt.getTime() - now.getTime();
  return restMs <= 0 || restMs > longestWaitMs + CLOCK_TOLERANCE_MS;
}

/** The time before which a due time is not yet due: see `isDue`. */
export const furthestDue = ({ longestWaitMs, now }: { longestWaitMs: number; now: Date }): Date =>
  new Date(now.getTime() + longestWaitMs + CLOCK_TOLERANCE_MS);
