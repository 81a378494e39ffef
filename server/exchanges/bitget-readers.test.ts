import { describe, expect, test } from 'vitest';
import { accountStateOf, isEntry, orderOf, positionOf, protectionOf } from './bitget-readers.ts';
import type { OpenPosition } from './exchange.ts';

const order = (changes: object = {}) => ({
  orderId: '1300000000000000000',
  clientOid: 'c1',
  side: 'buy',
  state: 'live',
  price: '65000',
  size: '0.0012',
  baseVolume: '0',
  priceAvg: '',
  fee: '',
  presetStopLossPrice: '63000.0',
  presetStopSurplusPrice: '',
  uTime: '1795273117323',
  ...changes,
});

describe('orders', () => {
  test('empty fields are null and numbers lose their zeros', () => {
    expect(orderOf(order(), 'BTC')).toMatchObject({
      state: 'open',
      averagePrice: null,
      fee: null,
      stopLoss: '63000',
      takeProfit: null,
      updatedAt: new Date(1795273117323),
    });
  });

  test.each([
    [{ state: 'live', baseVolume: '0.0001' }, 'partially-filled'],
    [{ state: 'partially_filled', baseVolume: '0.0001' }, 'partially-filled'],
    [{ state: 'filled', baseVolume: '0.0012' }, 'filled'],
    [{ state: 'canceled', baseVolume: '0.0005' }, 'cancelled'],
    [{ state: 'something new' }, 'unknown'],
    [{ state: undefined, status: 'live' }, 'open'],
  ])('%j is %s', (changes, state) => {
    expect(orderOf(order(changes), 'BTC').state).toBe(state);
  });

  test('a fee is what was paid', () => {
    expect(orderOf(order({ fee: '-0.039' }), 'BTC').fee).toBe('0.039');
  });

  test.each([
    ['no id', { orderId: null }],
    ['no quantity', { size: null }],
    ['a quantity that is none', { baseVolume: 'many' }],
    ['no time', { uTime: '' }],
    ['no side', { side: 'both' }],
  ])('an answer with %s is not an order', (_, changes) => {
    expect(() => orderOf(order(changes), 'BTC')).toThrow();
  });

  test.each([null, [], 'text', undefined])('%j is not an order', (answer) => {
    expect(() => orderOf(answer, 'BTC')).toThrow();
  });

  test('what reduces a position is no entry', () => {
    expect(isEntry(order())).toBe(true);
    expect(isEntry(order({ reduceOnly: 'YES' }))).toBe(false);
    expect(isEntry(order({ tradeSide: 'close' }))).toBe(false);
  });
});

describe('protection', () => {
  const position = { token: 'BTC', side: 'long', quantity: '0.01' } as OpenPosition;
  const plan = (planType: string, triggerPrice: string, size = '0.01') => ({
    symbol: 'BTCUSDT',
    planType,
    triggerPrice,
    size,
  });

  test('a plan for the whole position covers it', () => {
    const plans = [plan('pos_loss', '63000', '0'), plan('pos_profit', '69000', '0')];
    expect(protectionOf(plans, position)).toEqual({ stopLoss: '63000', takeProfit: '69000' });
  });

  test('partial stops cover it only together', () => {
    const half = plan('loss_plan', '63000', '0.005');
    expect(protectionOf([half], position).stopLoss).toBeNull();
    expect(protectionOf([half, half], position).stopLoss).toBe('63000');
  });

  test("another token's stop covers nothing", () => {
    const foreign = { ...plan('pos_loss', '63000'), symbol: 'ETHUSDT' };
    expect(protectionOf([foreign], position)).toEqual({ stopLoss: null, takeProfit: null });
  });
});

test('a position of nothing is none', () => {
  expect(positionOf({ symbol: 'BTCUSDT', total: '0' })).toBeNull();
});

test('leverages that differ between long and short are no leverage', () => {
  const state = accountStateOf({
    marginMode: 'isolated',
    isolatedLongLever: 10,
    isolatedShortLever: 20,
    posMode: 'one_way_mode',
  });
  expect(state.leverage).toBeNaN();
});
