import { expect, test } from 'vitest';
import { createCrossings } from './crossings.ts';

test('a signal comes once when the fast average crosses the slow one, and not before both are known', () => {
  const crossings = createCrossings({ fast: 1, slow: 3 });
  const closes = [10, 10, 13, 14, 9, 8, 7, 12, 13];
  expect(closes.map((close) => crossings.next(close))).toEqual([
    null,
    null,
    null,
    null,
    'sell',
    null,
    null,
    'buy',
    null,
  ]);
});

test('the side is known without a crossing', () => {
  const crossings = createCrossings({ fast: 1, slow: 3 });
  expect(crossings.side()).toBeNull();
  for (const close of [1, 2, 3]) crossings.next(close);
  expect(crossings.side()).toBe('buy');
});
