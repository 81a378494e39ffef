import { describe, expect, it } from 'vitest';
import {
  BASE_TIMEFRAMES,
  displayTimeframe,
  distinctTimeframes,
  matchesTimeframe,
  nextCandleClose,
  sameTimeframe,
  timeframeMinutes,
} from './timeframe.ts';

describe('timeframes', () => {
  it('keep one timeframe per meaning, shortest first', () => {
    const distinct = distinctTimeframes(['D', '15S', '015', '15', '15m', '15s', '1h', '60', '5']);
    expect(distinct).toEqual(['5', '015', '1h', 'D', '15S']);
  });

  it.each<[number | null, string[]]>([
    [15, ['15', '15m', '15min', '15 min', '15 m', '15MIN', '15 Minutes', 'M15', 'm15']],
    [1, ['M1', '1 min']],
    [60, ['60', '1h', '1H']],
    [240, ['4h', '240', 'H4', '4 h', '4hours']],
    [1_440, ['D', '1D', '1d', 'D1', '1 Day']],
    [10_080, ['W', 'W1']],
    [43_200, ['1M']],
    [null, ['30S', '0', '', 'Any', '1.5h', '-5', '999999', 'M0', 'M15m', '15 secs', '15  min', 'S30']],
  ])('%j minutes are read from %j', (minutes, texts) => {
    for (const text of texts) expect(timeframeMinutes(text), text).toBe(minutes);
  });

  // Requirements: webhook-deliveries-25
  it('are compared in minutes', () => {
    expect(sameTimeframe('15', '15m')).toBe(true);
    expect(sameTimeframe('60', '1h')).toBe(true);
    expect(sameTimeframe('D', '1d')).toBe(true);
    expect(sameTimeframe('1M', '1m')).toBe(false);
    expect(sameTimeframe('15', '30')).toBe(false);
  });

  it('without minutes are compared by their text', () => {
    expect(sameTimeframe('30S', '30s')).toBe(true);
    expect(sameTimeframe('30S', '15S')).toBe(false);
    expect(sameTimeframe('30S', '30')).toBe(false);
  });

  it.each([null, undefined, '', 'Any', 'any', ' ANY '])('a user setting of %j matches all', (setting) => {
    expect(matchesTimeframe(setting, '15')).toBe(true);
    expect(matchesTimeframe(setting, '30S')).toBe(true);
  });

  it('a user setting matches its own timeframe in any spelling', () => {
    expect(matchesTimeframe('1h', '60')).toBe(true);
    expect(matchesTimeframe('1h', '15')).toBe(false);
  });

  it('every offered timeframe except Any has minutes', () => {
    expect(BASE_TIMEFRAMES.slice(1).map(timeframeMinutes)).toEqual([1, 2, 5, 15, 30, 60, 240, 1_440]);
  });

  // Requirements: trading-validation-14
  it('a bare number is shown with its unit', () => {
    expect(['15', '1h', '15m', 'D', 'Any'].map(displayTimeframe)).toEqual(['15m', '1h', '15m', 'D', 'Any']);
  });

  it.each([
    ['2026-05-04T10:00:00.000Z', '2026-05-04T10:15:00.000Z'],
    ['2026-05-04T10:14:59.999Z', '2026-05-04T10:15:00.000Z'],
    ['2026-05-04T10:15:00.000Z', '2026-05-04T10:30:00.000Z'],
    ['2026-05-04T11:50:00.000Z', '2026-05-04T12:00:00.000Z'],
  ])('at %s the next candle of a series closes at %s', (now, close) => {
    const candleTime = new Date('2026-05-04T10:00:00Z');
    expect(nextCandleClose({ candleTime, minutes: 15, now: new Date(now) })).toEqual(new Date(close));
  });
});
