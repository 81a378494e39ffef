import { expect, test } from 'vitest';
import { areTestsRefused, testDeliveryEffect, testExample, testPayload } from './test-delivery.ts';

const signalOf = (exchangeMode: 'paper' | 'demo' | 'live', autoTradeEnabled: boolean) =>
  testDeliveryEffect('signal', { isAdmin: true, trading: { exchangeMode, autoTradeEnabled } });

test('says that an administrator’s signal is for every user, and whether positions are opened now', () => {
  expect(signalOf('paper', true)).toContain('for every eligible user');
  expect(signalOf('paper', true)).toContain('positions are opened now, on the paper exchange');
  expect(signalOf('demo', true)).toContain('positions are opened now, in demo trading');
  for (const mode of ['paper', 'demo', 'live'] as const) {
    expect(signalOf(mode, false)).toContain('no position is opened now');
  }
});

test('says that test deliveries are refused only while real money is traded automatically', () => {
  const live = { exchangeMode: 'live', autoTradeEnabled: true } as const;
  for (const kind of ['signal', 'candle'] as const) {
    const text = testDeliveryEffect(kind, { isAdmin: true, trading: live });
    expect(text).toContain('test deliveries are refused');
  }
  expect(areTestsRefused({ exchangeMode: 'live', autoTradeEnabled: true })).toBe(true);
  expect(areTestsRefused({ exchangeMode: 'live', autoTradeEnabled: false })).toBe(false);
  expect(areTestsRefused({ exchangeMode: 'demo', autoTradeEnabled: true })).toBe(false);
  expect(areTestsRefused(null)).toBe(false);
});

test('promises nothing while the environment is unknown', () => {
  expect(testDeliveryEffect('signal', { isAdmin: true, trading: null })).toContain('is not known');
});

test('says that an ordinary user’s deliveries are for that user only', () => {
  const user = { isAdmin: false, trading: null };
  expect(testDeliveryEffect('signal', user)).toContain('only for you');
  expect(testDeliveryEffect('candle', user)).toContain('only for your own signals');
});

test('says that a candle opens no position', () => {
  for (const isAdmin of [true, false]) {
    expect(testDeliveryEffect('candle', { isAdmin, trading: null })).toContain('opens no position');
  }
});

const NOW = new Date('2026-11-21T14:30:07.250Z');

test('fills every required field of the example signal, with the time in milliseconds', () => {
  expect(testPayload('signal', testExample('signal', NOW))).toEqual({
    symbol: 'BTCUSDT',
    action: 'buy',
    price: '97098.87',
    timeframe: '15',
    processor: 'Tesla',
    time: '2026-11-21T14:30:07.250Z',
  });
});

test("gives the example candle's minute in UTC", () => {
  expect(testPayload('candle', testExample('candle', NOW))).toMatchObject({
    Symbol: 'BTCUSDT',
    DateTime: '202611211430',
    time: '2026-11-21T14:30:07.250Z',
  });
});

test('makes two examples of the same minute differ', () => {
  const later = new Date(NOW.getTime() + 1);
  expect(testExample('candle', later)).not.toEqual(testExample('candle', NOW));
});

test('omits blank fields', () => {
  const values = { ...testExample('candle', NOW), ATR: '  ', immediate_trend: '' };
  expect(Object.keys(testPayload('candle', values))).not.toContain('ATR');
  expect(Object.keys(testPayload('candle', values))).not.toContain('immediate_trend');
});
