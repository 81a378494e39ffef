import { describe, expect, it } from 'vitest';
import { calculated, withSettings } from '#test/app/position-input.ts';
import type { SizingMethod } from '../user-settings.ts';
import { describeMethodology } from './methodology.ts';
import type { PositionInput } from './position.ts';

const linesOf = (positionSizingMethod: SizingMethod, changes: Partial<PositionInput> = {}) =>
  describeMethodology(calculated({ ...withSettings({ positionSizingMethod }), ...changes }));

describe('the methodology in words', () => {
  // Requirements: additions-order-and-positions-1
  it('is the formula of Risk Management with its numbers, then each step', () => {
    // d = 452.5 / 65002.5; 10000 × 5% / (d × 10) = 7182.59…; 33% of 10000 is less.
    expect(linesOf('Risk Management')).toEqual([
      'Risk Management invests as much as loses 5.00% of the available balance of 10000 USDT at the stop loss: ' +
        'balance × risk / (0.6961% stop distance × leverage 10) = 7182.59 USDT, and never more than 33% of it = 3300 USDT.',
      'The stop loss lies ATR 300.00 × 1.5 (aligned with the trend) = 450.0000 USDT below the reference price 65000.0000, ' +
        'rounded to the tick towards the entry: 64550.0000.',
      'The take profit lies 2 times that distance above the reference price, rounded to the tick towards the entry: 65900.0000.',
      'The entry is a limit order: epsilon 2.5 USDT is added to the reference price, which gives 65002.5000.',
      'The quantity is the investment × leverage 10 / entry 65002.5000, rounded down to the step 0.01: 0.5 BTC.',
      'What is shown is what is traded: the rounded quantity is worth 32501.25 USDT, takes 3250.125 USDT of margin ' +
        '(32.50% of the available balance) and loses 2.26% of it at the stop loss.',
    ]);
  });

  it('is the formula of the chosen method', () => {
    expect(linesOf('Portfolio Allocation')[0]).toBe(
      'Portfolio Allocation invests 10.00% of the available balance of 10000 USDT = 1000 USDT, scaled down until ' +
        'portion × 0.6961% stop distance × leverage 10 is at most the risk of 5.00%, which allows 7182.59 USDT.',
    );
    expect(linesOf('Technical Analysis')[0]).toContain(
      'Technical Analysis invests 5.00% of the available balance of 10000 USDT = 500 USDT; the risk follows from the stop loss and is capped at 15.00%',
    );
  });

  it('mirrors the sides for a sell, and says when there is no ATR', () => {
    const lines = linesOf('Risk Management', {
      signal: { token: 'BTC', action: 'sell', price: '65000' },
      priceLog: null,
    });
    expect(lines[1]).toBe(
      'The stop loss lies 2% of the reference price, for want of an ATR, = 1300.0000 USDT above the reference price 65000.0000, ' +
        'rounded to the tick towards the entry: 66300.0000.',
    );
    expect(lines[3]).toContain(
      'epsilon 2.5 USDT is subtracted from the reference price, which gives 64997.5000',
    );
  });
});
