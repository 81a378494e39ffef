import { describe, expect, it } from 'vitest';
import { ownTokenRules } from '../sizing/token-rules.ts';
import {
  assessOrder,
  checkEntryRounding,
  checkOrderSides,
  checkOrderSize,
  checkStopBeforeLiquidation,
  minimumOrderQuantity,
  type OrderToAssess,
} from './order-checks.ts';

const calculatedAt = new Date('2024-05-01T12:00:00Z');
const GOOD: OrderToAssess = {
  position: {
    token: 'BTC',
    action: 'buy',
    referencePrice: '100000',
    stopLoss: '99250',
    takeProfit: '101500',
  },
  calculatedAt,
  now: new Date('2024-05-01T12:04:00Z'),
  livePrice: '100000',
  user: { isActive: true, isTestUser: true },
  mode: 'sandbox',
  hasCredentials: true,
  openPosition: false,
  openEntry: false,
  alreadyTraded: false,
  isEstimate: false,
};

describe('the pre-assessment', () => {
  it('passes a sound order', () => {
    expect(assessOrder(GOOD)).toEqual({ valid: true });
    const atTheLimits = { ...GOOD, now: new Date('2024-05-01T12:05:00Z'), livePrice: '101000' };
    expect(assessOrder(atTheLimits)).toEqual({ valid: true });
  });

  // Requirements: trading-validation-4, position-sizing-9
  it.each<[string, Partial<OrderToAssess>, string]>([
    ['a missing stop loss', { position: { ...GOOD.position, stopLoss: null } }, 'protection_missing'],
    ['a missing take profit', { position: { ...GOOD.position, takeProfit: null } }, 'protection_missing'],
    ['a stop loss of zero', { position: { ...GOOD.position, stopLoss: '0' } }, 'protection_missing'],
    ['an estimate', { isEstimate: true }, 'estimate_only'],
    [
      'a calculation over 5 minutes old',
      { now: new Date('2024-05-01T12:05:00.001Z') },
      'calculation_too_old',
    ],
    ['an unknown live price', { livePrice: null }, 'live_price_unavailable'],
    ['a live price of zero', { livePrice: '0' }, 'live_price_unavailable'],
    ['a live price at the stop', { livePrice: '99250' }, 'live_price_beyond_stop'],
    ['a live price at the target', { livePrice: '101500' }, 'live_price_beyond_target'],
    ['a live price moved by more than 1%', { livePrice: '101000.1' }, 'live_price_moved'],
    ['an inactive user', { user: { isActive: false, isTestUser: true } }, 'user_inactive'],
    ['a test user in live mode', { mode: 'live' }, 'test_user_in_live'],
    [
      'a regular user in the sandbox',
      { user: { ...GOOD.user, isTestUser: false } },
      'regular_user_in_sandbox',
    ],
    ['missing credentials', { hasCredentials: false }, 'exchange_not_connected'],
    ['an open position', { openPosition: true }, 'position_open'],
    ['an open entry', { openEntry: true }, 'entry_open'],
    ['an order that was traded before', { alreadyTraded: true }, 'already_traded'],
  ])('refuses %s', (_name, changes, code) => {
    expect(assessOrder({ ...GOOD, ...changes })).toMatchObject({ valid: false, denial: { code } });
  });

  it('mirrors the sides for a short', () => {
    const position = { ...GOOD.position, action: 'sell' as const, stopLoss: '100750', takeProfit: '98500' };
    expect(assessOrder({ ...GOOD, position })).toEqual({ valid: true });
    for (const [livePrice, code] of [
      ['100750', 'live_price_beyond_stop'],
      ['98500', 'live_price_beyond_target'],
    ] as const) {
      expect(assessOrder({ ...GOOD, position, livePrice })).toMatchObject({ denial: { code } });
    }
  });
});

describe('order sides', () => {
  it.each([
    ['buy', '99', '101', null],
    ['buy', '100', '101', 'stop_would_trigger'],
    ['buy', '100.5', '101', 'stop_would_trigger'],
    ['buy', '99', '100', 'target_would_trigger'],
    ['sell', '101', '99', null],
    ['sell', '100', '99', 'stop_would_trigger'],
    ['sell', '101', '100', 'target_would_trigger'],
    ['buy', '101', '99', 'stop_would_trigger'],
  ] as const)('%s with stop %s and target %s around 100: %j', (action, stopLoss, takeProfit, code) => {
    expect(checkOrderSides({ action, stopLoss, takeProfit, prices: ['100'] })?.code ?? null).toBe(code);
  });

  it('must be right for every price', () => {
    const order = { action: 'buy', stopLoss: '99', takeProfit: '101' } as const;
    expect(checkOrderSides({ ...order, prices: ['100', '101.5'] })?.reason).toBe(
      'Take profit would trigger at once: 101 is not above the price 101.5',
    );
  });
});

describe('the liquidation distance', () => {
  it('is reached at 0.8 of the margin', () => {
    expect(checkStopBeforeLiquidation({ entryPrice: '100', stopLoss: '92.01', leverage: 10 })).toBeNull();
    expect(checkStopBeforeLiquidation({ entryPrice: '100', stopLoss: '92', leverage: 10 })?.reason).toContain(
      'Stop loss lies beyond the liquidation distance',
    );
    expect(checkStopBeforeLiquidation({ entryPrice: '100', stopLoss: '92', leverage: 5 })).toBeNull();
  });
});

describe('rounding of an entry', () => {
  const rounded = (rules: { tickSize: string; contractTickSize?: string }, entryPrice: string) =>
    checkEntryRounding({ entryPrice, price: '0.0062', epsilon: '0.00000372', rules });

  it('may move it by its epsilon and one tick of the contract', () => {
    expect(rounded({ tickSize: '0.000001' }, '0.006204')).toBeNull();
    expect(rounded({ tickSize: '0.0001', contractTickSize: '0.000001' }, '0.006204')).toBeNull();
  });

  it('is denied with its figures when it moves it further, either way', () => {
    const rules = { tickSize: '0.0001', contractTickSize: '0.000001' };
    expect(rounded(rules, '0.0063')?.reason).toBe(
      'Entry price 0.0063 is too far from the price 0.0062: rounding to 0.0001 moves it by more than its epsilon and one tick of the contract, 0.00000472',
    );
    expect(rounded(rules, '0.0061')?.code).toBe('entry_rounded_away');
  });
});

describe('order size', () => {
  // Requirements: trading-constants-14
  it.each([
    ['BTC', '0.01', '100000', null],
    ['BTC', '0.009', '100000', 'below_minimum_quantity'],
    ['BTC', '0', '100000', 'below_minimum_quantity'],
    ['BTC', '0.015', '100000', 'quantity_off_step'],
    ['XRP', '2', '2.5', null],
    ['XRP', '1', '2.5', 'below_minimum_notional'],
    ['PEPE', '999', '1', 'below_minimum_quantity'],
  ])('%s %s at %s: %j', (token, quantity, price, code) => {
    expect(checkOrderSize({ quantity, price, rules: ownTokenRules(token) })?.code ?? null).toBe(code);
  });

  it('is denied above the exchange’s largest order', () => {
    const rules = { ...ownTokenRules('XRP'), maximumQuantity: '3600' };
    expect(checkOrderSize({ quantity: '3600', price: '2.5', rules })).toBeNull();
    expect(checkOrderSize({ quantity: '11418', price: '2.5', rules })?.reason).toBe(
      "Quantity 11418 XRP is above the exchange's largest order of 3600 XRP",
    );
  });

  it('meets both minima with the minimum order, and not with one step less', () => {
    expect(minimumOrderQuantity({ price: '100000', rules: ownTokenRules('BTC') })).toBe('0.01');
    expect(minimumOrderQuantity({ price: '2.5', rules: ownTokenRules('XRP') })).toBe('2');
    expect(minimumOrderQuantity({ price: '2.4', rules: ownTokenRules('XRP') })).toBe('3');
    expect(minimumOrderQuantity({ price: '0.00001', rules: ownTokenRules('PEPE') })).toBe('500000');
  });
});
