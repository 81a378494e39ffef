import { describe, expect, test } from 'vitest';
import type { ChartFill } from '#contract/charts.ts';
import { priceDecimals, toChartModel } from './candle-chart-model.ts';
import type { CandlePicture } from './candle-chart-picture.ts';

const LOS_ANGELES = 'America/Los_Angeles';

const candleAt = (time: string, close = '100') => ({ time, open: '99', high: '101', low: '98.5', close });
const picture = (changes: Partial<CandlePicture>): CandlePicture => ({
  token: 'BTC',
  timeframe: '15',
  candles: [],
  mark: null,
  levels: null,
  fills: [],
  ...changes,
});
const markAt = (time: string) => ({ time, price: '100', text: 'Buy', direction: 'buy' as const });
const quarters = ['2026-01-02T08:00:00Z', '2026-01-02T08:15:00Z', '2026-01-02T08:30:00Z'].map((time) =>
  candleAt(time),
);
const clock = (seconds: number | undefined) => new Date((seconds ?? 0) * 1000).toISOString();

describe('times', () => {
  test('are in the display time zone', () => {
    const { bars, instants } = toChartModel(picture({ candles: quarters }), LOS_ANGELES);
    expect(bars.map(({ time }) => clock(time))).toEqual([
      '2026-01-02T00:00:00.000Z',
      '2026-01-02T00:15:00.000Z',
      '2026-01-02T00:30:00.000Z',
    ]);
    expect(bars.map(({ time }) => instants.get(time))).toEqual(quarters.map(({ time }) => time));
  });

  test('keep rising when the clocks go back, and keep the true instants', () => {
    // 8:00 to 11:00 UTC on 1 November 2026: 1:00 occurs twice in Los Angeles.
    const candles = Array.from({ length: 13 }, (_, index) =>
      candleAt(new Date(Date.parse('2026-11-01T08:00:00Z') + index * 900_000).toISOString()),
    );
    const { bars, instants } = toChartModel(picture({ candles }), LOS_ANGELES);
    const times = bars.map(({ time }) => time);
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
    expect(times.map((time) => instants.get(time))).toEqual(candles.map(({ time }) => time));
    expect(clock(times.at(-1))).toBe('2026-11-01T03:00:00.000Z');
  });
});

describe('the mark', () => {
  test.each([
    ['before all candles', '2026-01-01T00:00:00Z', 0],
    ['at the moment of a candle', '2026-01-02T08:15:00Z', 1],
    ['between two candles', '2026-01-02T08:29:59Z', 1],
    ['long after the last one', '2026-02-02T08:15:00Z', 2],
  ])('is placed on the right candle: %s', (_, time, index) => {
    const { marks, focus, bars } = toChartModel(
      picture({ candles: quarters, mark: markAt(time) }),
      LOS_ANGELES,
    );
    expect(focus).toBe(index);
    expect(marks).toEqual([
      { kind: 'signal', side: 'buy', time: bars[index]?.time, price: 100, text: 'Buy' },
    ]);
  });

  test('is left out without candles', () => {
    expect(toChartModel(picture({ mark: markAt('2026-01-02T08:15:00Z') }), LOS_ANGELES)).toMatchObject({
      bars: [],
      marks: [],
      focus: null,
    });
  });
});

test('shows entry, stop and target as named lines', () => {
  const levels = { entryPrice: '100.5', stopLoss: '97', takeProfit: '106.25' };
  expect(toChartModel(picture({ candles: quarters, levels }), LOS_ANGELES).lines).toEqual([
    { title: 'Entry', price: 100.5 },
    { title: 'Stop', price: 97 },
    { title: 'Target', price: 106.25 },
  ]);
});

test('gives a marked candle no side', () => {
  const mark = { ...markAt('2026-01-02T08:15:00Z'), direction: null };
  const { marks } = toChartModel(picture({ candles: quarters, mark }), LOS_ANGELES);
  expect(marks).toEqual([expect.objectContaining({ kind: 'candle', side: null })]);
});

describe('fills', () => {
  const fill = (time: string, quantity: string, averagePrice: string, side: 'buy' | 'sell' = 'buy') =>
    ({ time, quantity, averagePrice, side, username: 'ann@example.com' }) satisfies ChartFill;
  const marksOf = (...fills: ChartFill[]) =>
    toChartModel(picture({ candles: quarters, fills }), 'UTC').marks.map(
      ({ kind, side, time, price, text }) => ({
        kind,
        side,
        at: clock(time).slice(11, 16),
        price,
        text,
      }),
    );

  test('are marked at their average price', () => {
    expect(marksOf(fill('2026-01-02T08:16:00Z', '0.050', '100.25'))).toEqual([
      { kind: 'fill', side: 'buy', at: '08:15', price: 100.25, text: 'Filled 0.05' },
    ]);
  });

  test('abbreviate large quantities of a cheap token', () => {
    expect(marksOf(fill('2026-01-02T08:16:00Z', '1281962050', '0.00001'))[0]?.text).toBe('Filled 1.282B');
    expect(marksOf(fill('2026-01-02T08:16:00Z', '999999.5', '0.00001'))[0]?.text).toBe('Filled 999999.5');
  });

  test('at the same candle share one mark per side, in order of time', () => {
    expect(
      marksOf(
        fill('2026-01-02T08:31:00Z', '1', '100'),
        fill('2026-01-02T08:16:00Z', '0.1', '100'),
        fill('2026-01-02T08:17:00Z', '0.2', '103'),
        fill('2026-01-02T08:17:00Z', '0.2', '99', 'sell'),
      ),
    ).toEqual([
      { kind: 'fill', side: 'buy', at: '08:15', price: expect.closeTo(102, 9), text: '2 fills, 0.3' },
      { kind: 'fill', side: 'sell', at: '08:15', price: 99, text: 'Filled 0.2' },
      { kind: 'fill', side: 'buy', at: '08:30', price: 100, text: 'Filled 1' },
    ]);
  });
});

test.each([
  [['65000'], 2],
  [['65000', '64999.5'], 2],
  [['2.5', '2.5001'], 4],
  [['0.00001234', '0.0000125'], 8],
  [['0.5'], 1],
  [['65000', '65000.123456789012'], 4],
  [['0.5', '0.333333333333333333'], 9],
  [['0.000000000001'], 12],
  [[], 2],
])('shows prices %j with %i decimals', (prices, decimals) => {
  expect(priceDecimals(prices)).toBe(decimals);
});
