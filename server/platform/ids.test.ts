import { expect, test } from 'vitest';
import { firstIdOf, momentOf, randomId, timeOrderedId } from './ids.ts';

const some = (make: () => string) => Array.from({ length: 5000 }, make);

test('sorts time-ordered ids in the order of creation, even within a millisecond', () => {
  const ids = some(timeOrderedId);
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('stores the moment of creation in a time-ordered id, next to a unique random part', () => {
  const before = Date.now();
  const id = timeOrderedId();
  expect(momentOf(id).getTime()).toBeGreaterThanOrEqual(before);
  expect(momentOf(id).getTime()).toBeLessThan(before + 1_000);
  expect(id > firstIdOf(new Date(before))).toBe(true);
  expect(new Set(some(timeOrderedId).map((one) => one.slice(-8))).size).toBeGreaterThan(4_990);
});

test('makes random ids of version 4 that differ in their first eight characters', () => {
  const ids = some(randomId).slice(0, 100);
  expect(ids.every((id) => id[14] === '4')).toBe(true);
  expect(new Set(ids.map((id) => id.slice(0, 8))).size).toBe(ids.length);
});
