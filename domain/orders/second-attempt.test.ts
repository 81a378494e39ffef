import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { D, isMultipleOf } from '../decimal.ts';
import { ownTokenRules } from '../sizing/token-rules.ts';
import { planSecondAttempt } from './second-attempt.ts';

const position = {
  token: 'BTC',
  action: 'buy',
  entryPrice: '100002.5',
  stopLoss: '99250',
  takeProfit: '101500',
  leverage: 10,
  assetQuantity: '1',
  rules: ownTokenRules('BTC'),
} as const;
const base = { position, profile: 'manual', freshPrice: '100000', filledQuantity: '0' } as const;

describe('the second attempt', () => {
  // Requirements: trading-calculator-and-execution-12, trading-constants-7
  it('enters at the fresh price with twice the epsilon, for as much as the planned loss allows', () => {
    // 752.5 of planned loss over 755 a unit is 0.9966…
    expect(planSecondAttempt(base)).toEqual({ ok: true, entryPrice: '100005', assetQuantity: '0.99' });
  });

  // Requirements: trading-constants-7
  it('multiplies by 2.5 in the automatic profile', () => {
    expect(planSecondAttempt({ ...base, profile: 'automatic' })).toMatchObject({ entryPrice: '100025' });
  });

  it('orders the unfilled rest at a lower price', () => {
    const plan = planSecondAttempt({ ...base, freshPrice: '99900', filledQuantity: '0.4' });
    expect(plan).toEqual({ ok: true, entryPrice: '99905', assetQuantity: '0.6' });
  });

  it('keeps the planned margin when a short enters higher', () => {
    const levels = { entryPrice: '99997.5', stopLoss: '110000', takeProfit: '90000' };
    const short = { ...position, ...levels, action: 'sell', leverage: 5 } as const;
    // 99997.5 / 100995 is 0.99012…
    const plan = planSecondAttempt({ ...base, position: short, freshPrice: '101000' });
    expect(plan).toEqual({ ok: true, entryPrice: '100995', assetQuantity: '0.99' });
  });

  // Requirements: order-execution-2
  it.each([
    ['everything is filled', { filledQuantity: '1' }, 'nothing_left_to_fill'],
    ['the rest is below the minimum', { filledQuantity: '0.995' }, 'below_minimum_quantity'],
    ['the price has reached the stop', { freshPrice: '99250' }, 'stop_would_trigger'],
    ['the price has reached the target', { freshPrice: '101500' }, 'target_would_trigger'],
    ['the entry would reach the target', { freshPrice: '101495' }, 'target_would_trigger'],
    ['there is no fresh price', { freshPrice: '0' }, 'live_price_unavailable'],
  ])('is not made when %s', (_name, changes, code) => {
    expect(planSecondAttempt({ ...base, ...changes })).toMatchObject({ ok: false, denial: { code } });
  });

  it('is not made when our tick would move the entry away from the price', () => {
    const coarse = { ...position, rules: { ...position.rules, tickSize: '100', contractTickSize: '0.1' } };
    expect(planSecondAttempt({ ...base, position: coarse })).toMatchObject({
      ok: false,
      denial: { code: 'entry_rounded_away' },
    });
  });

  it('is not made when the stop would then lie beyond the liquidation distance', () => {
    const wide = { ...position, stopLoss: '92500', takeProfit: '115000' };
    // 8505 / 101005 × 10 is 0.842…
    expect(planSecondAttempt({ ...base, position: wide, freshPrice: '101000' })).toMatchObject({
      ok: false,
      denial: { code: 'stop_beyond_liquidation' },
    });
    expect(planSecondAttempt({ ...base, position: wide })).toMatchObject({ ok: true });
  });

  it('throws on a negative fill', () => {
    expect(() => planSecondAttempt({ ...base, filledQuantity: '-0.1' })).toThrow(RangeError);
  });

  // Requirements: order-execution-2
  it('never exceeds the unfilled rest, its planned loss or its planned margin', () => {
    const price = fc.integer({ min: 9_925_001, max: 10_149_999 }).map((n) => D(n).div(100).toFixed());
    const filled = fc.integer({ min: 0, max: 100 }).map((n) => D(n).div(100).toFixed());
    const profile = fc.constantFrom('manual' as const, 'automatic' as const);
    fc.assert(
      fc.property(price, filled, profile, (freshPrice, filledQuantity, name) => {
        const plan = planSecondAttempt({ position, profile: name, freshPrice, filledQuantity });
        if (!plan.ok) return;
        const rest = D(position.assetQuantity).minus(filledQuantity);
        const plannedLoss = rest.times(D(position.entryPrice).minus(position.stopLoss));
        expect(D(plan.assetQuantity).lte(rest)).toBe(true);
        const loss = D(plan.assetQuantity).times(D(plan.entryPrice).minus(position.stopLoss));
        expect(loss.lte(plannedLoss)).toBe(true);
        expect(D(plan.assetQuantity).times(plan.entryPrice).lte(rest.times(position.entryPrice))).toBe(true);
        expect(isMultipleOf(plan.assetQuantity, position.rules.quantityStep)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
