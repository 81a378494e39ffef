import { describe, expect, test } from 'vitest';
import { createFigures, median, toTable } from './figures.ts';

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
