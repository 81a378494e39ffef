import { expect, test } from 'vitest';
import { areTestsRefused, testDeliveryEffect } from './test-delivery-effect.ts';

const signalOf = (exchangeMode: 'paper' | 'demo' | 'live', autoTradeEnabled: boolean) =>
  testDeliveryEffect('signal', { isAdmin: true, trading: { exchangeMode, autoTradeEnabled } });

test('an administrator’s signal is said to be for everybody, with what becomes of it now', () => {
  expect(signalOf('paper', true)).toContain('for every eligible user');
  expect(signalOf('paper', true)).toContain('positions are opened now, on the paper exchange');
  expect(signalOf('demo', true)).toContain('positions are opened now, in demo trading');
  for (const mode of ['paper', 'demo', 'live'] as const) {
    expect(signalOf(mode, false)).toContain('no position is opened now');
  }
});

test('where real money is traded automatically, and only there, a test delivery is said to be refused', () => {
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

test('nothing is promised when the environment is not known', () => {
  expect(testDeliveryEffect('signal', { isAdmin: true, trading: null })).toContain('is not known');
});

test('an ordinary user’s deliveries are said to be for that user alone', () => {
  const user = { isAdmin: false, trading: null };
  expect(testDeliveryEffect('signal', user)).toContain('for you alone');
  expect(testDeliveryEffect('candle', user)).toContain('for your own signals alone');
});

test('a candle is said to open no position', () => {
  for (const isAdmin of [true, false]) {
    expect(testDeliveryEffect('candle', { isAdmin, trading: null })).toContain('opens no position');
  }
});
