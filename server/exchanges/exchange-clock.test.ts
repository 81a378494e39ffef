import { beforeEach, describe, expect, test } from 'vitest';
import { type FakeClock, fakeClock } from '#test/app/fake-clock.ts';
import { createExchangeClock, type ExchangeClock } from './exchange-clock.ts';

let ours: FakeClock;
let clock: ExchangeClock;

beforeEach(() => {
  ours = fakeClock();
  clock = createExchangeClock({ now: () => ours.now() });
});

/** An answer after `roundTripMs`; the exchange reads its clock, which is `aheadMs` ahead, `atMs` after the request. */
function answer(options: { aheadMs: number; roundTripMs: number; atMs?: number }) {
  const { aheadMs, roundTripMs, atMs = roundTripMs / 2 } = options;
  const sentAt = ours.now();
  const at = new Date(sentAt.getTime() + aheadMs + atMs);
  ours.advance(roundTripMs);
  return { at, sentAt, receivedAt: ours.now() };
}

test('an exchange that has not answered has no difference, and its time is ours', () => {
  expect(clock.aheadMs()).toBeNull();
  expect(clock.now()).toEqual(ours.now());
});

test.each([0, 90_000, -1_200_000])(
  'a difference of %i ms is measured from the middle of the round trip',
  (aheadMs) => {
    clock.measure(answer({ aheadMs, roundTripMs: 400 }));
    expect(clock.aheadMs()).toBe(aheadMs);
    expect(clock.now().getTime() - ours.now().getTime()).toBe(aheadMs);
  },
);

describe('of several answers', () => {
  test('the one with the shortest round trip counts for a minute', () => {
    clock.measure(answer({ aheadMs: 1_000, roundTripMs: 20 }));
    clock.measure(answer({ aheadMs: 1_000, roundTripMs: 2_000, atMs: 2_000 }));
    expect(clock.aheadMs()).toBe(1_000);
    ours.advance(60_000);
    clock.measure(answer({ aheadMs: 1_000, roundTripMs: 2_000, atMs: 2_000 }));
    expect(clock.aheadMs()).toBe(2_000);
  });

  test('one that contradicts what was measured replaces it at once: a clock was set', () => {
    clock.measure(answer({ aheadMs: 0, roundTripMs: 20 }));
    clock.measure(answer({ aheadMs: 600_000, roundTripMs: 900 }));
    expect(clock.aheadMs()).toBe(600_000);
    clock.measure(answer({ aheadMs: 0, roundTripMs: 900 }));
    expect(clock.aheadMs()).toBe(0);
  });
});

test('an answer during which our clock stepped back says nothing', () => {
  clock.measure(answer({ aheadMs: 5_000, roundTripMs: 100 }));
  const sentAt = ours.now();
  ours.advance(-30_000);
  clock.measure({ at: sentAt, sentAt, receivedAt: ours.now() });
  expect(clock.aheadMs()).toBe(5_000);
});

test('a refusal of our time makes the next answer count, however long it took', () => {
  clock.measure(answer({ aheadMs: 0, roundTripMs: 20 }));
  clock.doubt();
  expect(clock.aheadMs()).toBe(0);
  clock.measure(answer({ aheadMs: 500, roundTripMs: 2_000 }));
  expect(clock.aheadMs()).toBe(500);
  clock.measure(answer({ aheadMs: 500, roundTripMs: 2_100, atMs: 2_100 }));
  expect(clock.aheadMs()).toBe(500);
});
