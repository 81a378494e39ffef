import { describe, expect, it } from 'vitest';
import { stopLevels } from './stop-levels.ts';

const base = { action: 'buy', referencePrice: '1000', atr: '10', aligned: true, tick: '0.01' } as const;

describe('stop loss and take profit', () => {
  // Requirements: trading-constants-5
  it.each([
    ['Risk Management', true, '985', '1030', '1.5', '2'],
    ['Risk Management', false, '980', '1040', '2', '2'],
    ['Portfolio Allocation', true, '985', '1030', '1.5', '2'],
    ['Portfolio Allocation', false, '980', '1040', '2', '2'],
    ['Technical Analysis', true, '976.7', '1034.95', '2.33', '1.5'],
    ['Technical Analysis', false, '974', '1031.2', '2.6', '1.2'],
  ] as const)(
    '%s, aligned %s: %s and %s',
    (method, aligned, stopLoss, takeProfit, atrMultiplier, rewardRatio) => {
      expect(stopLevels({ ...base, method, aligned })).toMatchObject({
        ok: true,
        stopLoss,
        takeProfit,
        atrMultiplier,
        rewardRatio,
      });
    },
  );

  // Requirements: trading-constants-5
  it('are mirrored for a short', () => {
    expect(stopLevels({ ...base, action: 'sell', method: 'Technical Analysis' })).toMatchObject({
      stopLoss: '1023.3',
      takeProfit: '965.05',
    });
  });

  it('round towards the entry', () => {
    const odd = { ...base, atr: '3.337', tick: '0.1', method: 'Risk Management' } as const;
    // distance 5.0055, reward 10.011
    expect(stopLevels(odd)).toMatchObject({ stopLoss: '995', takeProfit: '1010' });
    expect(stopLevels({ ...odd, action: 'sell' })).toMatchObject({ stopLoss: '1005', takeProfit: '990' });
  });

  // Requirements: position-sizing-4
  it.each([null, '0', '-1', 'NaN', 'abc', ''])('use 2% of the price for an ATR of %j', (atr) => {
    expect(stopLevels({ ...base, atr, method: 'Risk Management' })).toEqual({
      ok: true,
      stopLoss: '980',
      takeProfit: '1040',
      distance: '20',
      atrMultiplier: null,
      rewardRatio: '2',
    });
  });

  // Requirements: position-sizing-4
  it('are refused for Technical Analysis without an ATR', () => {
    expect(stopLevels({ ...base, atr: null, method: 'Technical Analysis' })).toMatchObject({
      ok: false,
      denial: { code: 'atr_required', reason: 'ATR is required for Technical Analysis' },
    });
  });

  it('are refused at or below zero', () => {
    const wide = { ...base, atr: '700', method: 'Risk Management' } as const;
    expect(stopLevels(wide)).toMatchObject({ denial: { reason: 'Stop loss must be above zero but is -50' } });
    expect(stopLevels({ ...wide, action: 'sell' })).toMatchObject({
      denial: { reason: 'Take profit must be above zero but is -1100' },
    });
  });
});
