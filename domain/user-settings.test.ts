import { describe, expect, it } from 'vitest';
import {
  DEFAULT_USER_SETTINGS,
  DISABLED_SIZING_METHODS,
  effectivePortion,
  effectiveRisk,
  isPortionAllowed,
  isRiskAllowed,
  isSizingMethod,
  PORTION_OPTIONS,
  RISK_OPTIONS,
  SIZING_METHODS,
} from './user-settings.ts';

describe('user settings', () => {
  // Requirements: accounts-limits-7, trading-constants-16, users-1
  it('start from the defaults for a new user', () => {
    expect(DEFAULT_USER_SETTINGS).toEqual({
      calculationBehavior: 'Futures_Limit_Classic',
      marketType: 'Futures',
      positionSizingMethod: 'Technical Analysis',
      investmentPortion: '0.05',
      maximumRiskPerTrade: '0.05',
      exchangePlatform: 'Bitget',
      signalProcessor: 'Tesla',
      signalTimeframe: 'Any',
      activeTrading: false,
      tradingPausedUntil: null,
      tradeOrderSet: 'M',
      oppositeSignal: 'reverse',
    });
  });

  // Requirements: trading-constants-11, users-2
  it.each([
    ['Portfolio Allocation', null, '0.10'],
    ['Technical Analysis', null, '0.05'],
    ['Portfolio Allocation', '0.2', '0.2'],
    ['Technical Analysis', '0.33', '0.33'],
  ])('%s with a portion of %j is sized from %s', (positionSizingMethod, investmentPortion, portion) => {
    expect(effectivePortion({ positionSizingMethod, investmentPortion })).toBe(portion);
  });

  // Requirements: users-2
  it('size a null risk as 0.05', () => {
    expect(effectiveRisk({ maximumRiskPerTrade: null })).toBe('0.05');
    expect(effectiveRisk({ maximumRiskPerTrade: '0.15' })).toBe('0.15');
  });

  // Requirements: trading-validation-9, trading-constants-10
  it('allow portions up to 33% and risks up to 15%', () => {
    expect([null, '0.33', '0.0001', '0.330'].map(isPortionAllowed)).toEqual([true, true, true, true]);
    expect(['0.3301', '0', '-0.1', '1', 'x', ''].some(isPortionAllowed)).toBe(false);
    expect([null, '0.15', '0.01'].every(isRiskAllowed)).toBe(true);
    expect(['0.1501', '0', '-0.1', 'NaN'].some(isRiskAllowed)).toBe(false);
  });

  // Requirements: trading-validation-10
  it('allow every option', () => {
    expect(PORTION_OPTIONS.every(isPortionAllowed) && RISK_OPTIONS.every(isRiskAllowed)).toBe(true);
  });

  // Requirements: trading-calculator-and-execution-19, trading-validation-8
  it('do not accept the methods that are coming soon', () => {
    expect(SIZING_METHODS.every(isSizingMethod)).toBe(true);
    expect(DISABLED_SIZING_METHODS.some(isSizingMethod)).toBe(false);
  });
});
