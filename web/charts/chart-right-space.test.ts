import { expect, test } from 'vitest';
import type { ChartMark } from './candle-chart-model.ts';
import { rightSpacePx } from './chart-right-space.ts';

const bars = Array.from({ length: 100 }, (_, time) => ({ time, open: 1, high: 1, low: 1, close: 1 }));
const lines = [{ title: 'Entry' as const, price: 1 }];
const markAt = (time: number, text: string): ChartMark => ({
  kind: 'candle',
  side: null,
  time,
  price: 1,
  text,
});
const spaceOf = (model: { lines?: typeof lines; marks?: ChartMark[] }, widthPx = 800) =>
  rightSpacePx({ bars, lines: [], marks: [], ...model }, { widthPx, barWidthPx: 5 });

test("leaves room for the line names, but most of a phone's width for the bars", () => {
  expect(spaceOf({})).toBe(24);
  expect(spaceOf({ lines })).toBe(72);
  expect(spaceOf({ lines }, 300)).toBe(45);
});

// Requirements: additions-charts-3
test('leaves room for half the text of a mark at the last bar, even on a phone', () => {
  for (const text of ['This candle', 'Filled 238.123456789']) {
    for (const widthPx of [800, 300]) {
      expect(spaceOf({ marks: [markAt(99, text)] }, widthPx)).toBeGreaterThanOrEqual((text.length * 6.5) / 2);
    }
  }
});

// Requirements: additions-charts-3
test('needs less room for a mark further left, by the bars after it', () => {
  const wide = 'Filled 238.123456789';
  expect(spaceOf({ marks: [markAt(99, wide)] })).toBe(70);
  expect(spaceOf({ marks: [markAt(95, wide)] })).toBe(50);
  expect(spaceOf({ marks: [markAt(50, wide)] })).toBe(24);
});
