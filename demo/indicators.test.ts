import { describe, expect, test } from 'vitest';
import { createAtr, createIndicators, trueRange } from './indicators.ts';
import type { Bar } from './walk.ts';

const bar = (high: number, low: number, close: number): Bar => ({ open: low, high, low, close, volume: 10 });
const rising = (index: number): Bar => bar(101 + index, 99 + index, 100 + index);

describe('the true range', () => {
  test('is the range of the bar when it lies around the close before', () => {
    expect(trueRange({ high: 12, low: 9 }, 10)).toBe(3);
    expect(trueRange({ high: 12, low: 9 }, null)).toBe(3);
  });

  test('includes the gap to the close before', () => {
    expect(trueRange({ high: 12, low: 9 }, 15)).toBe(6);
    expect(trueRange({ high: 12, low: 9 }, 5)).toBe(7);
  });
});

describe('ATR', () => {
  // By hand: true ranges 2, 3, 4, 5, 6, 1. The first value is their mean, (2+3+4)/3 = 3; then a third of each
  // new one and two thirds of what was: (3*2+5)/3 = 11/3, (11/3*2+6)/3 = 40/9, (40/9*2+1)/3 = 89/27.
  test('of three bars agrees with a series computed by hand', () => {
    const atr = createAtr(3);
    const values = [
      bar(10, 8, 9),
      bar(12, 9, 10),
      bar(14, 11, 12),
      bar(16, 11, 14),
      bar(20, 15, 18),
      bar(18.5, 17.5, 18),
    ].map(atr);
    expect(values.slice(0, 2)).toEqual([null, null]);
    expect(values[2]).toBeCloseTo(3, 10);
    expect(values[3]).toBeCloseTo(11 / 3, 10);
    expect(values[4]).toBeCloseTo(40 / 9, 10);
    expect(values[5]).toBeCloseTo(89 / 27, 10);
  });

  // By hand: fourteen true ranges of 2 give 2; a bar of 16 then gives (2*13+16)/14 = 3.
  test('of fourteen bars begins with their mean and weighs a new one by a fourteenth', () => {
    const atr = createAtr();
    const values = Array.from({ length: 14 }, () => atr(bar(11, 9, 10)));
    expect(values.slice(0, 13).every((value) => value === null)).toBe(true);
    expect(values[13]).toBe(2);
    expect(atr(bar(18, 2, 10))).toBeCloseTo(3, 10);
  });
});

describe('the indicators of a bar', () => {
  test('come by the names of the charting platform once enough bars are known', () => {
    const indicators = createIndicators();
    expect(Object.keys(indicators(rising(0)))).toEqual(['OBV']);
    let last = {};
    for (let index = 1; index < 120; index += 1) last = indicators(rising(index));
    expect(Object.keys(last)).toEqual(
      expect.arrayContaining(['ATR', 'RSI', 'MACD', 'OBV', 'WT1', 'WT2', 'immediate_trend', 'mature_trend']),
    );
    expect(Object.keys(last).length).toBeGreaterThanOrEqual(27);
    expect(Object.values(last).every(Number.isFinite)).toBe(true);
  });

  test('say of an endless rise that it rises', () => {
    const indicators = createIndicators();
    let last = indicators(rising(0));
    for (let index = 1; index < 120; index += 1) last = indicators(rising(index));
    expect(last.RSI).toBe(100);
    expect(last.MFI).toBe(100);
    expect(last.ATR).toBeCloseTo(2, 10);
    expect(last.SMA20).toBeCloseTo(209.5, 10);
    expect(last.OBV).toBe(1190);
    expect(last.MACD).toBeCloseTo(7, 2);
    expect(last.mature_trend).toBeGreaterThan(0.9);
  });
});
