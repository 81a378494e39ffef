import { describe, expect, it } from 'vitest';
import { findNeededUnreadable, isAbsent, readCandleFigures } from './candle-figures.ts';

describe('the figures of a candle', () => {
  it.each([
    ['3 ', '3'],
    ['1.234e-05', '0.00001234'],
    [0.5, '0.5'],
    ['NaN', null],
    [undefined, null],
  ])('read the ATR %j as %j', (atr, read) => {
    expect(readCandleFigures({ atr })).toMatchObject({ atr: read, unreadable: [] });
  });

  it.each([undefined, null, '', ' ', 'na', 'NA', 'NaN'])('take %j for absent', (value) => {
    expect(isAbsent(value)).toBe(true);
  });

  it.each([
    [{ atr: '$3', mature_trend: 'up' }, 'ATR'],
    [{ atr: '3', mature_trend: 'Bullish ↑', immediate_trend: 'up' }, 'mature_trend'],
    [{ atr: '3', mature_trend: 'flat', immediate_trend: '?' }, 'immediate_trend'],
    [{ atr: '3', immediate_trend: '?' }, 'immediate_trend'],
    [{ atr: '3', mature_trend: 'up', immediate_trend: '?', high: 'x' }, undefined],
    [{}, undefined],
  ])('of %j name what a position needs and cannot read: %s', (parameters, field) => {
    expect(findNeededUnreadable(readCandleFigures(parameters))?.field).toBe(field);
  });

  it('of records that name no unreadable fields are used as they were', () => {
    const figures = { atr: '$3', immediateTrend: null, matureTrend: 'Bullish ↑' };
    expect(findNeededUnreadable(figures)).toBeNull();
  });
});
