import { expect, test } from 'vitest';
import type { UserSettings } from '#contract/settings.ts';
import {
  changedSettings,
  portionOptions,
  riskOptions,
  settingsOfMethod,
  storedCalculationSettings,
} from './calculation-settings.ts';

const STORED = { investmentPortion: '0.2', maximumRiskPerTrade: '0.02' };
const NOTHING = { investmentPortion: null, maximumRiskPerTrade: null };

test('takes the stored fractions that a method uses, and leaves the others to the method', () => {
  expect(settingsOfMethod('Risk Management', STORED)).toMatchObject({
    investmentPortion: null,
    maximumRiskPerTrade: '0.02',
  });
  expect(settingsOfMethod('Technical Analysis', STORED)).toMatchObject({
    investmentPortion: '0.2',
    maximumRiskPerTrade: null,
  });
  expect(settingsOfMethod('Portfolio Allocation', STORED)).toMatchObject(STORED);
});

test("uses the method's defaults when nothing is stored", () => {
  expect(settingsOfMethod('Portfolio Allocation', NOTHING)).toMatchObject({
    investmentPortion: '0.10',
    maximumRiskPerTrade: '0.05',
  });
});

test('shows an unknown stored method as Risk Management', () => {
  const stored = { ...STORED, positionSizingMethod: 'Scalping' } as UserSettings;
  expect(storedCalculationSettings(stored).positionSizingMethod).toBe('Risk Management');
});

test('lists changed settings with their stored values, and compares fractions by value', () => {
  const before = settingsOfMethod('Portfolio Allocation', STORED);
  expect(changedSettings(before, { ...before, investmentPortion: '0.20' })).toEqual([]);
  expect(
    changedSettings(before, settingsOfMethod('Risk Management', { ...STORED, maximumRiskPerTrade: '0.1' })),
  ).toEqual([
    { label: 'Position Sizing Method', stored: 'Risk Management' },
    { label: 'Investment Portion', stored: 'Auto' },
    { label: 'Maximum Risk per Trade', stored: '10.0%' },
  ]);
});

test('offers the fixed options plus a stored value', () => {
  const labels = (options: { label: string }[]) => options.map(({ label }) => label);
  expect(labels(portionOptions('0.1'))).toEqual(['2.0%', '5.0%', '10.0%', '15.0%', '20.0%']);
  expect(labels(portionOptions('0.33'))).toEqual(['2.0%', '5.0%', '10.0%', '15.0%', '20.0%', '33.0%']);
  expect(labels(riskOptions('0.05'))).toEqual(['2.0%', '5.0%', '10.0%', '15.0%']);
});
