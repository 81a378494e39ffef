import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { D } from '../decimal.ts';
import {
  dailyLossUse,
  dayProfit,
  drawdownUse,
  lossesInARow,
  nextPeak,
  openProfitAtStart,
  type Peak,
} from './stopping-limits.ts';

const START = new Date('2026-06-01T00:00:00Z');
const read = (minutes: number, figure: string) => ({
  at: new Date(START.getTime() + minutes * 60_000),
  figure,
});

// Requirements: additions-limits-5
describe("the open profit at a day's start", () => {
  it.each([
    ['is that of a reading near it', read(-50, '10'), read(1, '20'), '20'],
    ['is that of the nearer one', read(-2, '10'), read(5, '20'), '10'],
    ['is the larger one when both are far', read(-50, '30'), read(300, '-5'), '30'],
    ['is the only one', null, read(300, '-5'), '-5'],
    ['is not known without a reading', null, null, null],
  ])('%s', (_what, before, first, expected) => {
    expect(openProfitAtStart({ dayStart: START, before, first })?.toFixed() ?? null).toBe(expected);
  });
});

// Requirements: additions-limits-5
describe('the loss of a day', () => {
  const loss = (text: string, profit: string, equity: string | null) =>
    dailyLossUse(text, { profit: D(profit), equity: equity === null ? null : D(equity) });

  it('counts what was realised and what the open profit has changed', () => {
    const profit = dayProfit({ realised: '-250', openNow: '-80', openAtStart: '20' });
    expect(profit.toFixed()).toBe('-350');
    expect(dailyLossUse('300', { profit, equity: null })).toEqual({
      used: '350',
      maximum: '300',
      isReached: true,
      saw: '350 USDT',
      shownMaximum: '300 USDT',
    });
  });

  it('is reached at the limit, not before', () => {
    expect(loss('3%', '-60', '2000')?.isReached).toBe(true);
    expect(loss('3%', '-59.99', '2000')?.isReached).toBe(false);
    expect(loss('3%', '60', '2000')).toMatchObject({ used: '0', isReached: false });
  });

  it('as a share is not known without the equity', () => {
    expect(loss('3%', '-60', null)).toBeNull();
  });
});

// Requirements: additions-limits-5
describe('a drawdown', () => {
  it('is the largest fall from the highest profit, as a share of the equity then', () => {
    const profit = fc.integer({ min: -1_000, max: 1_000 });
    fc.assert(
      fc.property(
        fc.array(fc.record({ profit, equity: fc.integer({ min: 1, max: 9_999 }) }), { minLength: 1 }),
        (readings) => {
          let peak: Peak | null = null;
          for (const { profit: now, equity } of readings) {
            peak = nextPeak(peak, { profit: D(now), equity: D(equity), at: START });
          }
          if (peak === null) return;
          const highest = Math.max(...readings.map((one) => one.profit));
          const first = readings.find((one) => one.profit === highest);
          expect(peak).toMatchObject({ profit: String(highest), equity: String(first?.equity) });
          const last = readings.at(-1)?.profit ?? 0;
          const use = drawdownUse('10%', { peak, profit: D(last) });
          expect(Number(use.used)).toBe(highest - last);
          expect(use.isReached).toBe(highest > last && (highest - last) * 10 >= (first?.equity ?? 0));
        },
      ),
    );
  });
});

// Requirements: additions-limits-5
it.each([
  [[], 0],
  [['-1', '-2', '3', '-1'], 2],
  [['0', '-2'], 0],
  [['-1', '-0.01'], 2],
])('of %j newest first, the losses in a row are %i', (profits, losses) => {
  expect(lossesInARow(profits)).toBe(losses);
});
