import { expect, test } from 'vitest';
import { describeDays } from './signal-sparkline.tsx';

const days = (...counts: number[]) =>
  counts.map((count, index) => ({ day: `2026-01-${String(index + 1).padStart(2, '0')}`, count }));

test('describes the days in words, with the busiest day and today', () => {
  expect(describeDays(days(2, 1200, 0, 7))).toBe(
    '1,209 signals in the last 4 days, today 7, most on 2026/01/02: 1,200',
  );
});

test('names the latest of equally busy days', () => {
  expect(describeDays(days(3, 3, 1))).toContain('most on 2026/01/02: 3');
});

test('names no busiest day without signals', () => {
  expect(describeDays(days(0, 0))).toBe('0 signals in the last 2 days');
  expect(describeDays(days(0, 1))).toBe('1 signal in the last 2 days, today 1, most on 2026/01/02: 1');
});
