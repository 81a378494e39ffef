import { describe, expect, test } from 'vitest';
import { createFigures, isMet, mean, median, percentile, slope, toTable } from './figures.ts';

describe('the median', () => {
  test('is the middle value of an odd number, whatever their order', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([7])).toBe(7);
  });

  test('lies between the two middle values of an even number', () => {
    expect(median([4, 1, 3, 10])).toBe(3.5);
  });

  test('of nothing is an error, not a zero', () => {
    expect(() => median([])).toThrow(RangeError);
  });
});

describe('a percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);

  test('is a value that was measured, with the share at or below it', () => {
    expect(percentile(hundred, 0.95)).toBe(95);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile(hundred, 1)).toBe(100);
  });

  test('of few values is the greatest of them', () => {
    expect(percentile([3, 1, 2], 0.99)).toBe(3);
    expect(percentile([5], 0.5)).toBe(5);
  });

  test('of nothing is an error', () => {
    expect(() => percentile([], 0.5)).toThrow(RangeError);
  });
});

describe('the slope', () => {
  test('of a line is how much it climbs', () => {
    const line = [0, 1, 2, 3].map((x) => ({ x, y: 200 + 2.5 * x }));
    expect(slope(line)).toBeCloseTo(2.5);
  });

  test('of values that waver about one height is nothing', () => {
    const points = [1, -1, 1, -1, -1, 1, -1, 1].map((y, x) => ({ x, y: 200 + y }));
    expect(Math.abs(slope(points))).toBeLessThan(0.01);
  });

  test('needs more than one place', () => {
    expect(() => slope([{ x: 1, y: 2 }])).toThrow(RangeError);
  });
});

test('the mean of nothing is an error', () => {
  expect(mean([1, 2, 6])).toBe(3);
  expect(() => mean([])).toThrow(RangeError);
});

describe('a target', () => {
  const figure = (rounds: number[], target: object) => ({ name: 'a', unit: 'ms', rounds, target });

  test('is met by the median, at its limit too', () => {
    expect(isMet(figure([10, 50, 900], { most: 50 }))).toBe(true);
    expect(isMet(figure([10, 51, 52], { most: 50 }))).toBe(false);
    expect(isMet(figure([0.2, 1.3, 1.4], { least: 1.3 }))).toBe(true);
    expect(isMet(figure([1.2, 1.2, 1.4], { least: 1.3 }))).toBe(false);
  });

  test('may be one that no round misses', () => {
    expect(isMet(figure([10, 20, 900], { most: 50, everyRound: true }))).toBe(false);
    expect(isMet(figure([10, 20, 50], { most: 50, everyRound: true }))).toBe(true);
  });

  test('is neither met nor missed where there is none', () => {
    expect(isMet({ name: 'a', unit: 'ms', rounds: [1] })).toBeNull();
  });
});

test('what is no number is no figure', () => {
  expect(() => createFigures().add('a', 'ms', Number.NaN)).toThrow('a is NaN');
});

test('a table shows the median of each quantity beside its least and greatest round', () => {
  const figures = createFigures();
  for (const value of [1200, 900, 1000.4]) figures.add('deliveries', '/s', value);
  figures.add('memory', 'MB', 42.26);
  expect(toTable({ figures: figures.all() }).split('\n')).toEqual([
    '| what       | median | unit | least … most | rounds |',
    '|------------|--------|------|--------------|--------|',
    '| deliveries | 1,000  | /s   | 900 … 1,200  | 3      |',
    '| memory     | 42.3   | MB   |              | 1      |',
  ]);
});

test('a table says of a figure with a target whether it is met', () => {
  const figures = createFigures();
  figures.add('memory', 'MB', 42.26, { most: 42 });
  figures.add('ratio', '×', 1.4, { least: 1.3, everyRound: true });
  figures.add('rate', '/s', 7);
  expect(toTable({ figures: figures.all() }).split('\n')).toEqual([
    '| what   | median | unit | least … most | rounds | target               | met |',
    '|--------|--------|------|--------------|--------|----------------------|-----|',
    '| memory | 42.3   | MB   |              | 1      | ≤ 42                 | no  |',
    '| ratio  | 1.4    | ×    |              | 1      | ≥ 1.3 in every round | yes |',
    '| rate   | 7      | /s   |              | 1      |                      |     |',
  ]);
});
