import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PriceLogCandidate, priceLogWindow, selectPriceLog } from './price-log-match.ts';

const signalTime = new Date('2024-05-01T12:00:00Z');
const signal = { token: 'BTC', timeframe: '15', processor: 'Tesla', signalTime, hookId: 'own' };

function candle(changes: Partial<PriceLogCandidate> & { minutesBefore?: number } = {}): PriceLogCandidate {
  const { minutesBefore = 10, ...rest } = changes;
  return {
    id: 'a',
    token: 'BTC',
    timeframe: '15m',
    processor: null,
    candleTime: new Date(signalTime.getTime() - minutesBefore * 60_000),
    receivedAt: signalTime,
    hookId: 'own',
    fromAdmin: false,
    ...rest,
  };
}

describe('the price log of a signal', () => {
  // Requirements: price-log-and-trend-1
  it('lies within two candles plus 30 minutes before it', () => {
    for (const [timeframe, from] of [
      ['15', '11:00'],
      ['1h', '09:30'],
      ['30S', '11:30'],
    ] as const) {
      const notBefore = new Date(`2024-05-01T${from}:00Z`);
      expect(priceLogWindow({ signalTime, timeframe })).toEqual({ notBefore, notAfter: signalTime });
    }
  });

  it.each<[string, Parameters<typeof candle>[0], boolean]>([
    ['at the signal time', { minutesBefore: 0 }, true],
    ['after the signal', { minutesBefore: -1 }, false],
    ['at the edge of the window', { minutesBefore: 60 }, true],
    ['beyond the window', { minutesBefore: 61 }, false],
    ['of another token', { token: 'ETH' }, false],
    ['of another timeframe', { timeframe: '30' }, false],
    ['of the same timeframe in another spelling', { timeframe: '15' }, true],
    ['of another processor', { processor: 'UD Bot' }, false],
    ['of the same processor in another case', { processor: 'tesla' }, true],
    ['from another hook', { hookId: 'other' }, false],
    ['from an administrator', { hookId: 'other', fromAdmin: true }, true],
  ])('a candle %s: %s', (_name, changes, isChosen) => {
    expect(selectPriceLog([candle(changes)], signal) !== null).toBe(isChosen);
  });

  it('is the newest by candle time, whatever the order of arrival', () => {
    const candles = [5, 20, 35, 50].map((minutesBefore) =>
      candle({ id: `at-${minutesBefore}`, minutesBefore }),
    );
    fc.assert(
      fc.property(fc.shuffledSubarray(candles, { minLength: 4 }), (shuffled) => {
        expect(selectPriceLog(shuffled, signal)?.id).toBe('at-5');
      }),
    );
  });

  it('is the last received among candles of the same time', () => {
    const early = candle({ id: 'b', receivedAt: new Date(signalTime.getTime() - 1_000) });
    const late = candle({ id: 'a' });
    expect(selectPriceLog([early, late], signal)?.id).toBe('a');
    expect(selectPriceLog([late, early], signal)?.id).toBe('a');
  });

  it('is null when no candle belongs to it', () => {
    expect(selectPriceLog([], signal)).toBeNull();
  });
});
