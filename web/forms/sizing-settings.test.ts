import { expect, test } from 'vitest';
import { fractionsFor, portionOptions, riskOptions, shownMethod } from './sizing-settings.ts';

const STORED = { investmentPortion: '0.2', maximumRiskPerTrade: '0.02' };
const NOTHING = { investmentPortion: null, maximumRiskPerTrade: null };

// Requirements: accounts-states-9, accounts-states-10, accounts-states-11, accounts-limits-6
test.for([
  ['Risk Management', { ...STORED, investmentPortion: null }, [null, 0.05]],
  ['Portfolio Allocation', STORED, [0.1, 0.05]],
  ['Technical Analysis', { ...STORED, maximumRiskPerTrade: null }, [0.05, null]],
] as const)('takes the stored fractions that %s uses, else its defaults', ([method, taken, usual]) => {
  expect(fractionsFor(method, STORED)).toEqual(taken);
  const defaults = fractionsFor(method, NOTHING);
  const asNumber = (fraction: string | null) => (fraction === null ? null : Number(fraction));
  expect([defaults.investmentPortion, defaults.maximumRiskPerTrade].map(asNumber)).toEqual(usual);
});

// Requirements: accounts-limits-6
test('shows an unknown stored method as Risk Management', () => {
  expect(shownMethod({ positionSizingMethod: 'Scalping' })).toBe('Risk Management');
});

test('offers the fixed options plus a stored value, which replaces the option of the same value', () => {
  const labels = (options: { label: string }[]) => options.map(({ label }) => label);
  expect(labels(portionOptions('0.1'))).toEqual(['2.0%', '5.0%', '10.0%', '15.0%', '20.0%']);
  expect(labels(portionOptions('0.33'))).toEqual(['2.0%', '5.0%', '10.0%', '15.0%', '20.0%', '33.0%']);
  expect(labels(riskOptions('0.05'))).toEqual(['2.0%', '5.0%', '10.0%', '15.0%']);
  const sameValue = portionOptions('0.1').filter(({ value }) => Number(value) === 0.1);
  expect(sameValue).toEqual([{ value: '0.1', label: '10.0%' }]);
});
