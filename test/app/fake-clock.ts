import type { Clock } from '#server/platform/clock.ts';

export interface FakeClock extends Clock {
  advance(ms: number): void;
  set(instant: Date | string): void;
}

export function fakeClock(start: Date | string = '2026-01-02T03:04:05.000Z'): FakeClock {
  let nowMs = new Date(start).getTime();
  return {
    now: () => new Date(nowMs),
    advance(ms) {
      nowMs += ms;
    },
    set(instant) {
      nowMs = new Date(instant).getTime();
    },
  };
}
