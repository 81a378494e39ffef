import { expect, test } from 'vitest';
import { createRandom } from './random.ts';
import { mean, standardDeviation } from './smoothing.ts';

const take = (count: number, next: () => number) => Array.from({ length: count }, next);

test('the same seed gives the same numbers, another seed gives others', () => {
  const first = take(20, createRandom('a').uniform);
  expect(take(20, createRandom('a').uniform)).toEqual(first);
  expect(take(20, createRandom('b').uniform)).not.toEqual(first);
});

test('uniform numbers lie from 0 up to 1 and fill it evenly', () => {
  const numbers = take(10_000, createRandom('even').uniform);
  expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...numbers)).toBeLessThan(1);
  for (let tenth = 0; tenth < 10; tenth += 1) {
    const inside = numbers.filter((number) => Math.floor(number * 10) === tenth).length;
    expect(inside).toBeGreaterThan(900);
    expect(inside).toBeLessThan(1100);
  }
});

test('normal numbers have mean 0 and deviation 1', () => {
  const numbers = take(10_000, createRandom('bell').normal);
  expect(mean(numbers)).toBeCloseTo(0, 1);
  expect(standardDeviation(numbers)).toBeCloseTo(1, 1);
});
