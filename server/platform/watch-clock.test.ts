import { beforeEach, expect, test } from 'vitest';
import { type FakeClock, fakeClock } from '#test/app/fake-clock.ts';
import { type ClockWatch, createClockWatch } from './watch-clock.ts';

let clock: FakeClock;
let monotonicMs: number;
let watch: ClockWatch;
let warned: unknown[];
/** How far the program's time is ahead of the machine's, as the database corrects it. */
let correctedMs: number;

beforeEach(() => {
  clock = fakeClock();
  monotonicMs = 5_000;
  warned = [];
  correctedMs = 0;
  const log = { warn: (fields: unknown) => void warned.push(fields) };
  const machineClock = { ...clock, monotonicMs: () => monotonicMs };
  const now = () => new Date(clock.now().getTime() + correctedMs);
  watch = createClockWatch({ clock: { ...machineClock, now }, machineClock, log });
});

/** Time passes, and the clock shows this much more or less than that. */
function pass(ms: number, { stepMs = 0 } = {}): void {
  monotonicMs += ms;
  clock.advance(ms + stepMs);
  watch.look();
}

// Requirements: order-execution-15
test.each([600_000, -600_000, 2_001, -2_001])('a step of %i ms is logged and remembered', (byMs) => {
  pass(1_000);
  pass(1_000, { stepMs: byMs });
  pass(1_000);
  expect(watch.lastStep()).toMatchObject({ byMs });
  expect(warned).toEqual([{ byMs }]);
});

test('an evenly passing time is no step, however late the look', () => {
  pass(1_000);
  pass(3_600_000);
  expect(watch.lastStep()).toBeNull();
});

test('small corrections are no step, however many', () => {
  for (let count = 0; count < 20; count += 1) pass(1_000, { stepMs: 1_900 });
  expect(watch.lastStep()).toBeNull();
  expect(warned).toEqual([]);
});

test.each([600_000, -600_000])('a correction of the program’s time by %i ms is no step', (ms) => {
  pass(1_000);
  correctedMs = ms;
  pass(1_000);
  expect(watch.lastStep()).toBeNull();
  expect(warned).toEqual([]);
});

test.each([600_000, -600_000])(
  'a step of %i ms that is corrected a moment later is reported once, with its time',
  (byMs) => {
    pass(1_000);
    pass(1_000, { stepMs: byMs });
    correctedMs = -byMs;
    pass(5_000);
    const at = new Date(clock.now().getTime() + correctedMs - 5_000);
    expect(watch.lastStep()).toEqual({ at, byMs });
    expect(warned).toHaveLength(1);
  },
);
