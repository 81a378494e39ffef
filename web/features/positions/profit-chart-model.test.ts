import { expect, test } from 'vitest';
import { describeProfit, toProfitModel } from './profit-chart-model.ts';

const POINTS = [
  { at: '2026-07-01T10:00:00.000Z', profit: '12.5' },
  { at: '2026-07-01T10:00:00.400Z', profit: '-3.25' },
  { at: '2026-07-02T10:00:00.000Z', profit: '4' },
];

test('places points at the wall-clock time of the display time zone, each later than the one before', () => {
  const { points, instants } = toProfitModel(POINTS, 'America/Los_Angeles');
  const three = Date.parse('2026-07-01T03:00:00Z') / 1000;
  expect(points).toEqual([
    { time: three, value: 12.5 },
    { time: three + 1, value: -3.25 },
    { time: three + 86_400, value: 4 },
  ]);
  expect(instants.get(three + 1)).toBe('2026-07-01T10:00:00.400Z');
});

test('describes the chart by its count, span, end, highest and lowest value', () => {
  expect(describeProfit(POINTS, (instant) => instant?.slice(0, 10) ?? '')).toBe(
    'Cumulative profit after fees of 3 closed positions from 2026-07-01 to 2026-07-02: +$4.00 at the end, highest $12.50, lowest −$3.25.',
  );
  expect(describeProfit([], String)).toBe('No closed positions yet.');
});
