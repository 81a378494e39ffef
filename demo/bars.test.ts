import { expect, test } from 'vitest';
import { createJoin } from './bars.ts';

const bar = (open: number, high: number, low: number, close: number) => ({
  open,
  high,
  low,
  close,
  volume: 2,
});
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute));

test('three bars of five minutes make one of fifteen, when the quarter of an hour is over', () => {
  const join = createJoin(15);
  expect(join(bar(10, 12, 9, 11), at(5))).toBeNull();
  expect(join(bar(11, 15, 11, 14), at(10))).toBeNull();
  expect(join(bar(14, 14, 8, 13), at(15))).toEqual({ open: 10, high: 15, low: 8, close: 13, volume: 6 });
  expect(join(bar(13, 14, 12, 12), at(20))).toBeNull();
});

test('a bar that was joined late is shorter, and the next one is whole', () => {
  const join = createJoin(15);
  expect(join(bar(1, 1, 1, 1), at(15))?.volume).toBe(2);
  join(bar(1, 1, 1, 1), at(20));
  join(bar(1, 1, 1, 1), at(25));
  expect(join(bar(1, 1, 1, 1), at(30))?.volume).toBe(6);
});

test('a base bar stands for itself', () => {
  expect(createJoin(5)(bar(1, 2, 1, 2), at(5))).toEqual(bar(1, 2, 1, 2));
});
