import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calculated } from '#test/app/position-input.ts';
import { D } from '../decimal.ts';
import { applyCustomEntryPrice } from './custom-entry.ts';

const position = calculated({
  signal: { token: 'BTC', action: 'buy', price: '100000' },
  priceLog: { atr: '1000', immediateTrend: 'up', matureTrend: 'up' },
  livePrice: '100000',
  availableBalance: '30000',
});
const base = { position, customEntryPrice: '100500', livePrice: '100000' };

describe('a custom entry price', () => {
  // Requirements: trading-calculator-and-execution-8
  it('changes entry, quantity and risk, and keeps stop and target', () => {
    // calculated: 0.98 at 100002.5, stop 98500; at 100500 the planned loss of 1472.45 allows 0.736… units
    expect(position).toMatchObject({ entryPrice: '100002.5', stopLoss: '98500', assetQuantity: '0.98' });
    const result = applyCustomEntryPrice(base);
    expect(result).toMatchObject({
      ok: true,
      position: {
        entryPrice: '100500',
        stopLoss: '98500',
        takeProfit: position.takeProfit,
        assetQuantity: '0.73',
        quantity: '73365',
        investment: '7336.5',
        investmentPortion: '0.24455',
        riskPercentage: '0.048666666666',
        hyperparameters: { customEntryPrice: '100500' },
      },
    });
    expect(result.ok && result.position.calculationDetail).toContain('Custom entry price E = 100500');
  });

  it('is denied where our tick would move it by more than one tick of the contract', () => {
    const coarse = { ...position, rules: { ...position.rules, tickSize: '100', contractTickSize: '0.1' } };
    expect(applyCustomEntryPrice({ ...base, position: coarse, customEntryPrice: '100400.1' })).toMatchObject({
      ok: false,
      denial: { code: 'entry_rounded_away' },
    });
  });

  // Requirements: position-sizing-8
  it('is rounded to the tick like an entry', () => {
    expect(applyCustomEntryPrice({ ...base, customEntryPrice: '99999.91' })).toMatchObject({
      position: { entryPrice: '100000' },
    });
  });

  // Requirements: position-sizing-8
  it.each([
    ['no number', { customEntryPrice: 'abc' }, 'custom_entry_invalid'],
    ['zero', { customEntryPrice: '0' }, 'custom_entry_invalid'],
    ['without a live price', { livePrice: null }, 'live_price_unavailable'],
    ['more than 1% above', { customEntryPrice: '101000.1' }, 'custom_entry_too_far'],
    ['more than 1% below', { customEntryPrice: '98999.9' }, 'custom_entry_too_far'],
    ['at the stop', { customEntryPrice: '98500', livePrice: '98600' }, 'stop_would_trigger'],
    ['beyond the stop', { customEntryPrice: '98600', livePrice: '98400' }, 'stop_would_trigger'],
  ])('is refused: %s', (_name, changes, code) => {
    expect(applyCustomEntryPrice({ ...base, ...changes })).toMatchObject({ ok: false, denial: { code } });
  });

  it('is refused when the stop would then lie beyond the liquidation distance', () => {
    const wide = { ...position, stopLoss: '92500', takeProfit: '115000' };
    expect(applyCustomEntryPrice({ ...base, position: wide, customEntryPrice: '100900' })).toMatchObject({
      ok: false,
      denial: { code: 'stop_beyond_liquidation' },
    });
  });

  // Requirements: position-sizing-8
  it('never raises quantity, investment or risk above the calculated ones', () => {
    const price = fc.integer({ min: 990_000, max: 1_010_000 }).map((n) => D(n).div(10).toFixed());
    fc.assert(
      fc.property(price, (customEntryPrice) => {
        const result = applyCustomEntryPrice({ ...base, customEntryPrice });
        if (!result.ok) throw new Error(result.denial.reason);
        for (const key of ['assetQuantity', 'investment', 'riskPercentage'] as const) {
          expect(D(result.position[key]).lte(position[key])).toBe(true);
        }
      }),
    );
  });
});
