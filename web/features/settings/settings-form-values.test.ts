import { expect, test } from 'vitest';
import type { UserSettings } from '#contract/settings.ts';
import { formValues, settingsBody, settingsField } from './settings-form-values.ts';

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

// Requirements: accounts-validation-8
test('sends Auto as null', () => {
  const body = settingsBody(formValues({ ...stored, positionSizingMethod: 'Risk Management' }));
  expect(body.investmentPortion).toBeNull();
  expect(body.maximumRiskPerTrade).toBe('0.15');
});

test('describes a field by its label, and a fraction as shown in its select', () => {
  const values = formValues({ ...stored, positionSizingMethod: 'Risk Management' });
  expect(settingsField('signalProcessor', values)).toEqual({ label: 'Signal processor', stored: 'Tesla' });
  expect(settingsField('investmentPortion', values).stored).toBe('Auto');
  expect(settingsField('maximumRiskPerTrade', values).stored).toBe('15.0%');
});
