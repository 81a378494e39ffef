import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';

/** A step of the machine's clock. */
export interface ClockStep {
  /** By the program's clock as it is now, in whole seconds: a correction that followed the step counts. */
  at: Date;
  /** Positive: forwards. */
  byMs: number;
}

export interface ClockWatch {
  /** Compares the clock with the monotonic one, and remembers a step. */
  look(): void;
  /** Looks every second until the returned function is called. */
  start(): () => void;
  /** The newest step; null if there was none since the start. */
  lastStep(): ClockStep | null;
}

const LOOK_EVERY_MS = 1_000;
/** Corrections of a time service that adjusts the clock gradually stay below this. */
const STEP_MS = 2_000;

/**
 * Tells steps of the machine's clock: a monotonic clock goes on evenly, and stands still while a machine sleeps. `clock`
 * is the program's, which the database may correct; a correction is no step.
 */
export function createClockWatch(options: {
  clock: Clock;
  machineClock: Pick<Clock, 'now' | 'monotonicMs'>;
  log: Pick<Logger, 'warn'>;
}): ClockWatch {
  const { clock, machineClock, log } = options;
  const read = () => machineClock.now().getTime() - machineClock.monotonicMs();
  let apartMs = read();
  let last: { atMonotonicMs: number; byMs: number } | null = null;

  function look(): void {
    const nowApartMs = read();
    const byMs = Math.round(nowApartMs - apartMs);
    // A drift is followed, so that only what happens between two looks counts.
    apartMs = nowApartMs;
    if (Math.abs(byMs) <= STEP_MS) return;
    last = { atMonotonicMs: machineClock.monotonicMs(), byMs };
    log.warn({ byMs }, 'the clock of this machine was set, or the machine slept');
  }

  return {
    look,
    start() {
      return clock.every(LOOK_EVERY_MS, look);
    },
    lastStep() {
      if (last === null) return null;
      const agoMs = machineClock.monotonicMs() - last.atMonotonicMs;
      const seconds = Math.floor((clock.now().getTime() - agoMs) / 1_000);
      return { at: new Date(seconds * 1_000), byMs: last.byMs };
    },
  };
}
