import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';

/** A step of the machine's clock. */
export interface ClockStep {
  /** By the clock after the step. */
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

/** Tells steps of the machine's clock: a monotonic clock goes on evenly, and stands still while a machine sleeps. */
export function createClockWatch({ clock, log }: { clock: Clock; log: Pick<Logger, 'warn'> }): ClockWatch {
  const read = () => clock.now().getTime() - clock.monotonicMs();
  let apartMs = read();
  let last: ClockStep | null = null;

  function look(): void {
    const nowApartMs = read();
    const byMs = Math.round(nowApartMs - apartMs);
    // A drift is followed, so that only what happens between two looks counts.
    apartMs = nowApartMs;
    if (Math.abs(byMs) <= STEP_MS) return;
    last = { at: clock.now(), byMs };
    log.warn({ byMs }, 'the clock of this machine was set, or the machine slept');
  }

  return {
    look,
    start() {
      return clock.every(LOOK_EVERY_MS, look);
    },
    lastStep: () => last,
  };
}
