import { describe, expect, it } from 'vitest';
import { calculated, withSettings } from '#test/app/position-input.ts';
import { listHyperparameters } from './hyperparameters.ts';
import type { PositionInput } from './position.ts';
import { mergeTokenRules, ownTokenRules } from './token-rules.ts';

function listed(changes: Partial<PositionInput> = {}, firstMs: number | null = null) {
  const rows = listHyperparameters({
    position: calculated({ livePrice: '65065', ...changes }),
    profile: 'manual',
    exchangePlatform: 'Bitget',
    waits: { firstMs, secondMs: null, cancelMs: null },
  });
  return new Map(rows.map(({ name, value, source }) => [name, `${value} | ${source}`]));
}

describe('the hyperparameters of a calculation', () => {
  // Requirements: trading-constants-12, trading-constants-13, trading-constants-17
  // Requirements: additions-order-and-positions-1
  it('list every figure in force with its source', () => {
    expect(Object.fromEntries(listed())).toEqual({
      'Signal price': '65000.0000 USDT | Signal',
      'Live price': '65065.0000 USDT | Bitget',
      'Price difference': '0.10% | Signal price and live price',
      'Price difference that switches to the live price': '1.00% | Built-in default',
      'Immediate trend': 'up | Price log',
      'Mature trend': 'up | Price log',
      'Buy threshold plan': '0.5 | Built-in default',
      'Sell threshold plan': '0.75 | Built-in default',
      'Leverage, aligned with the trend': '10 (in force) | Built-in default',
      'Leverage, opposed to the trend': '5 | Built-in default',
      ATR: '300.00 | Price log',
      'ATR multiplier, aligned': '1.5 (in force) | Built-in default',
      'ATR multiplier, opposed': '2 | Built-in default',
      'Default stop loss without an ATR': '2.00% | Built-in default',
      'Reward ratio, aligned': '2:1 (in force) | Built-in default',
      'Reward ratio, opposed': '2:1 | Built-in default',
      'Stop distance × leverage stays below': '80.00% | Built-in default',
      'Investment portion allowed': '33.00% | Built-in default',
      'Maximum risk allowed': '5.00% | User settings',
      'Investment portion, cap': '33.00% | Built-in default',
      'Risk per trade, cap': '15.00% | Built-in default',
      'Maximum risk in the method’s configuration (second reading, not applied)': '5.00% | Built-in default',
      'Tick size': '0.1 USDT | Built-in default',
      'Quantity precision': '2 decimals, step 0.01 BTC | Built-in default',
      'Minimum size': '0.01 BTC | Built-in default',
      'Minimum notional': '5 USDT | Built-in default',
      'Entry epsilon': '2.5 USDT | Built-in default',
      'Second attempt: epsilon ×': '2 | Built-in default',
      'First verification after': '10 s | Built-in default',
      'Second verification after': '15 s | Built-in default',
      'Wait after a cancel': '2 s | Built-in default',
      'Fees of a round trip (outside of the sizing)': 'about 0.12% | Built-in default',
      'Quantity placeholder (for comparison, not used in the sizing)':
        '1000 BTC, worth 65002500 USDT at the entry price | Built-in default',
    });
  });

  it('name the exchange where its rule is stricter', () => {
    const rules = mergeTokenRules(ownTokenRules('BTC'), {
      ...ownTokenRules('BTC'),
      tickSize: '0.5',
      minimumQuantity: '0.02',
      maximumLeverage: 50,
    });
    const rows = listed({ rules });
    expect(rows.get('Tick size')).toBe('0.5 USDT | Bitget');
    expect(rows.get('Minimum size')).toBe('0.02 BTC | Bitget');
    expect(rows.get('Quantity precision')).toContain('Built-in default');
    expect(rows.get('Maximum leverage of the contract')).toBe('50 | Bitget');
  });

  it('name the setting where it replaces a wait of the profile', () => {
    expect(listed({}, 500).get('First verification after')).toBe('0.5 s | VERIFY_FIRST_MS');
  });

  it('show the figures without a candle and against the trend', () => {
    const rows = listed({ priceLog: null, livePrice: null });
    expect(rows.get('Live price')).toBe('not available | Bitget');
    expect(rows.get('Price difference')).toBe('not known | Signal price and live price');
    expect(rows.get('ATR')).toBe('none | Price log');
    expect(rows.get('ATR multiplier, opposed')).toBe('2 | Built-in default');
    expect(rows.get('Default stop loss without an ATR')).toBe('2.00% (in force) | Built-in default');
    expect(rows.get('Leverage, opposed to the trend')).toBe('5 (in force) | Built-in default');
  });

  it('depend on the method', () => {
    const technical = listed(withSettings({ positionSizingMethod: 'Technical Analysis' }));
    expect(technical.get('ATR multiplier, aligned')).toBe('2.33 (in force) | Built-in default');
    expect(technical.get('Reward ratio, opposed')).toBe('1.2:1 | Built-in default');
    expect(technical.get('Default stop loss without an ATR')).toBe(
      'none, the method needs an ATR | Built-in default',
    );
    expect(technical.get('Investment portion allowed')).toBe('5.00% | User settings');
    expect(technical.get('Maximum risk allowed')).toBe('15.00% | Built-in default');
    const allocation = listed(withSettings({ positionSizingMethod: 'Portfolio Allocation' }));
    expect(allocation.get('Investment portion allowed')).toBe('10.00% | User settings');
    expect(allocation.get('Maximum risk allowed')).toBe('5.00% | User settings');
  });
});
