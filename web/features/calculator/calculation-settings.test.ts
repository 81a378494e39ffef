import { expect, test } from 'vitest';
import { changedSettings, settingsOfMethod } from './calculation-settings.ts';

test('lists changed settings with their stored values, and compares fractions by value', () => {
  const stored = { investmentPortion: '0.2', maximumRiskPerTrade: '0.02' };
  const before = settingsOfMethod('Portfolio Allocation', stored);
  expect(changedSettings(before, { ...before, investmentPortion: '0.20' })).toEqual([]);
  expect(
    changedSettings(before, settingsOfMethod('Risk Management', { ...stored, maximumRiskPerTrade: '0.1' })),
  ).toEqual([
    { label: 'Position Sizing Method', stored: 'Risk Management' },
    { label: 'Investment Portion', stored: 'Auto' },
    { label: 'Maximum Risk per Trade', stored: '10.0%' },
  ]);
});
