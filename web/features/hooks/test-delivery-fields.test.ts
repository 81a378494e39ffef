import { expect, test } from 'vitest';
import { testExample, testPayload } from './test-delivery-fields.ts';

const NOW = new Date('2026-11-21T14:30:07.250Z');

test('an example of a signal has all that is required and the time to the millisecond', () => {
  expect(testPayload('signal', testExample('signal', NOW))).toEqual({
    symbol: 'BTCUSDT',
    action: 'buy',
    price: '97098.87',
    timeframe: '15',
    processor: 'Tesla',
    time: '2026-11-21T14:30:07.250Z',
  });
});

test('an example of a candle carries its minute in UTC', () => {
  expect(testPayload('candle', testExample('candle', NOW))).toMatchObject({
    Symbol: 'BTCUSDT',
    DateTime: '202611211430',
    time: '2026-11-21T14:30:07.250Z',
  });
});

test('two examples of the same minute differ', () => {
  const later = new Date(NOW.getTime() + 1);
  expect(testExample('candle', later)).not.toEqual(testExample('candle', NOW));
});

test('a blank field is not sent', () => {
  const values = { ...testExample('candle', NOW), ATR: '  ', immediate_trend: '' };
  expect(Object.keys(testPayload('candle', values))).not.toContain('ATR');
  expect(Object.keys(testPayload('candle', values))).not.toContain('immediate_trend');
});
