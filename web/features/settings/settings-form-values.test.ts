import { expect, test } from 'vitest';
import type { UserSettings } from '#contract/settings.ts';
import {
  AUTO,
  formValues,
  fractionsFor,
  portionOptions,
  settingsBody,
  settingsField,
} from './settings-form-values.ts';

const stored: UserSettings = {
  calculationBehavior: 'Futures_Limit_Classic',
  marketType: 'Futures',
  positionSizingMethod: 'Portfolio Allocation',
  investmentPortion: '0.1',
  maximumRiskPerTrade: '0.15',
  exchangePlatform: 'Bitget',
  signalProcessor: 'Tesla',
  signalTimeframe: 'Any',
  activeTrading: false,
  isTestUser: true,
  tradingPausedUntil: null,
  tradeOrderSet: 'M',
  oppositeSignal: 'reverse',
  updatedAt: '2026-01-15T20:00:00.000Z',
};

const nothing = { investmentPortion: null, maximumRiskPerTrade: null };

// Requirements: accounts-states-9
test('sets the portion to Auto and keeps the stored risk for Risk Management', () => {
  expect(fractionsFor('Risk Management', stored)).toEqual({
    investmentPortion: AUTO,
    maximumRiskPerTrade: '0.15',
  });
  expect(Number(fractionsFor('Risk Management', nothing).maximumRiskPerTrade)).toBe(0.05);
});

// Requirements: accounts-states-10, accounts-limits-6
test('restores both for Portfolio Allocation', () => {
  expect(fractionsFor('Portfolio Allocation', stored)).toEqual({
    investmentPortion: '0.1',
    maximumRiskPerTrade: '0.15',
  });
  const defaults = fractionsFor('Portfolio Allocation', nothing);
  expect([Number(defaults.investmentPortion), Number(defaults.maximumRiskPerTrade)]).toEqual([0.1, 0.05]);
});

// Requirements: accounts-states-11, accounts-limits-6
test('sets the risk to Auto for Technical Analysis', () => {
  expect(fractionsFor('Technical Analysis', stored).maximumRiskPerTrade).toBe(AUTO);
  expect(Number(fractionsFor('Technical Analysis', nothing).investmentPortion)).toBe(0.05);
});

// Requirements: accounts-limits-6
test('falls back to Risk Management for an unknown stored method', () => {
  expect(formValues({ ...stored, positionSizingMethod: 'Scalping' }).positionSizingMethod).toBe(
    'Risk Management',
  );
});

// Requirements: accounts-validation-8
test('sends Auto as null', () => {
  const body = settingsBody(formValues({ ...stored, positionSizingMethod: 'Risk Management' }));
  expect(body.investmentPortion).toBeNull();
  expect(body.maximumRiskPerTrade).toBe('0.15');
});

test('replaces the option of the same value with the stored one', () => {
  const options = portionOptions('0.1');
  expect(options.filter(({ value }) => Number(value) === 0.1)).toEqual([{ value: '0.1', label: '10.0%' }]);
  expect(portionOptions('0.33').at(-1)).toEqual({ value: '0.33', label: '33.0%' });
});

test('describes a field by its label, and a fraction as shown in its select', () => {
  const values = formValues({ ...stored, positionSizingMethod: 'Risk Management' });
  expect(settingsField('signalProcessor', values)).toEqual({ label: 'Signal processor', stored: 'Tesla' });
  expect(settingsField('investmentPortion', values).stored).toBe('Auto');
  expect(settingsField('maximumRiskPerTrade', values).stored).toBe('15.0%');
});
