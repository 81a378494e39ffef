import { expect, test } from 'vitest';
import { createDeliveryLimit } from './delivery-limit.ts';

function limitOf(perMinute: number) {
  let nowMs = 1000;
  const limit = createDeliveryLimit({ perMinute, nowMs: () => nowMs });
  return {
    deliver: (hookId: string) => limit(hookId, {}),
    limit,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('a webhook has its deliveries a minute, then none, then as many again', () => {
  const { deliver, advance } = limitOf(3);
  expect([1, 2, 3, 4, 5].map(() => deliver('a'))).toEqual([true, true, true, false, false]);
  advance(59_999);
  expect(deliver('a')).toBe(false);
  advance(1);
  expect([1, 2, 3, 4].map(() => deliver('a'))).toEqual([true, true, true, false]);
});

test('webhooks do not use up each other’s deliveries', () => {
  const { deliver } = limitOf(1);
  expect([deliver('a'), deliver('b'), deliver('a'), deliver('b')]).toEqual([true, true, false, false]);
});

test('a delivery whose commit is tried again counts once', () => {
  const { limit } = limitOf(1);
  const [first, second] = [{}, {}];
  expect([limit('a', first), limit('a', first), limit('a', second), limit('a', first)]).toEqual([
    true,
    true,
    false,
    true,
  ]);
});

test('zero is no limit', () => {
  const { deliver } = limitOf(0);
  expect(Array.from({ length: 10_000 }, () => deliver('a')).every(Boolean)).toBe(true);
});

test('what other instances took counts, and is asked for once a second', () => {
  const { deliver, limit, advance } = limitOf(3);
  expect(limit.outdated(['a', 'b'])).toEqual(['a', 'b']);
  limit.learn('a', 2);
  expect(limit.outdated(['a', 'b'])).toEqual(['b']);
  expect([deliver('a'), deliver('a')]).toEqual([true, false]);
  advance(999);
  expect(limit.outdated(['a'])).toEqual([]);
  advance(1);
  expect(limit.outdated(['a'])).toEqual(['a']);
  // It knows of more itself than the log does yet.
  limit.learn('a', 1);
  expect(deliver('a')).toBe(false);
  advance(60_000);
  limit.learn('a', 1);
  expect([deliver('a'), deliver('a'), deliver('a')]).toEqual([true, true, false]);
});
