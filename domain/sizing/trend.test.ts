import { describe, expect, it } from 'vitest';
import { alignment, leverageFor, readTrend } from './trend.ts';

describe('readTrend', () => {
  // Requirements: trading-constants-13
  it.each<[unknown, ReturnType<typeof readTrend>]>([
    ['bullish', 'up'],
    ['UP', 'up'],
    [' Buy ', 'up'],
    ['long', 'up'],
    ['1', 'up'],
    [1, 'up'],
    [0.5, 'up'],
    ['0.5', 'up'],
    [0.4999, 'flat'],
    [0, 'flat'],
    [-0.7499, 'flat'],
    [-0.75, 'down'],
    ['-0.75', 'down'],
    [-1, 'down'],
    [1e-100, 'flat'],
    [-5e-324, 'flat'],
    [1e300, 'up'],
    [-1e300, 'down'],
    ['bearish', 'down'],
    ['Down', 'down'],
    ['sell', 'down'],
    ['SHORT', 'down'],
    ['neutral', 'flat'],
    ['', null],
    ['sideways?', null],
    ['constructor', null],
    ['NaN', null],
    [Number.NaN, null],
    [Infinity, null],
    [null, null],
    [undefined, null],
    [true, null],
    [{}, null],
  ])('%j is %j', (value, trend) => {
    expect(readTrend(value)).toBe(trend);
  });
});

describe('alignment', () => {
  // Requirements: trading-constants-4, price-log-and-trend-3
  it.each<['buy' | 'sell', unknown, unknown, boolean]>([
    ['buy', 'up', 'up', true],
    ['buy', 'down', 'up', true],
    ['buy', 'up', 'down', false],
    ['buy', 'up', 'flat', true],
    ['buy', 'up', null, true],
    ['buy', 'up', 'unreadable', true],
    ['buy', 'down', null, false],
    ['buy', 'flat', 'flat', false],
    ['buy', null, null, false],
    ['sell', 'up', 'down', true],
    ['sell', 'down', 'up', false],
    ['sell', 'down', 0.2, true],
    ['sell', null, -0.75, true],
    ['sell', undefined, undefined, false],
  ])('a %s with immediate %j and mature %j: aligned %j', (action, immediateTrend, matureTrend, aligned) => {
    expect(alignment({ action, immediateTrend, matureTrend }).aligned).toBe(aligned);
  });

  // Requirements: price-log-and-trend-3
  it('names the trend that decided', () => {
    const { reason } = alignment({ action: 'buy', immediateTrend: 'down', matureTrend: 'flat' });
    expect(reason).toBe('the immediate trend is down, against a buy');
  });

  // Requirements: trading-constants-4
  it('leverage is 10 aligned and 5 opposed', () => {
    expect([leverageFor(true), leverageFor(false)]).toEqual([10, 5]);
  });
});
