import { describe, expect, it } from 'vitest';
import { alignment, leverageFor, readTrend } from './trend.ts';

describe('readTrend', () => {
  // Requirements: trading-constants-13
  it.each<[ReturnType<typeof readTrend>, unknown[]]>([
    ['up', ['bullish', 'UP', ' Buy ', 'long', '1', 1, 0.5, '0.5', 1e300]],
    ['down', ['bearish', 'Down', 'sell', 'SHORT', -0.75, '-0.75', -1, -1e300]],
    ['flat', ['neutral', 0.4999, 0, -0.7499, 1e-100, -5e-324]],
    [null, ['', 'sideways?', 'constructor', 'NaN', Number.NaN, Infinity, null, undefined, true, {}]],
  ])('reads %j from %j', (trend, values) => {
    for (const value of values) expect(readTrend(value), String(value)).toBe(trend);
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
  it('names the deciding trend', () => {
    const { reason } = alignment({ action: 'buy', immediateTrend: 'down', matureTrend: 'flat' });
    expect(reason).toBe('the immediate trend is down, against a buy');
  });

  // Requirements: trading-constants-4
  it('gives a leverage of 10 aligned and 5 opposed', () => {
    expect([leverageFor(true), leverageFor(false)]).toEqual([10, 5]);
  });
});
