import { expect, test } from 'vitest';
import type { OrderResult } from '#contract/position-maker.ts';
import type { CalculationSettings } from './calculation-settings.ts';
import type { CalculationOutcome } from './run-calculation.ts';
import { submitState, submitTip } from './submit-state.ts';

const technical: CalculationSettings = {
  positionSizingMethod: 'Technical Analysis',
  investmentPortion: '0.10',
  maximumRiskPerTrade: null,
};
const outcomeWith = (fields: { stopLoss?: string; takeProfit?: string; isEstimate?: boolean }) => {
  const { stopLoss = '9', takeProfit = '12', isEstimate = false } = fields;
  return {
    answer: { success: true, isEstimate, position: { stopLoss, takeProfit } },
    settings: technical,
  } as CalculationOutcome;
};
const ready = {
  calculationId: 'a calculation',
  outcome: outcomeWith({}),
  isUnsaved: false,
  order: null,
  tradingDisabled: false,
  settings: { ...technical, investmentPortion: '0.1' },
  storedSettings: technical,
};

test('allows submitting a calculation with stop and target', () => {
  expect(submitState(ready)).toBe('ready');
  expect(submitTip('ready')).toBeUndefined();
});

test('says why an order cannot be submitted', () => {
  const cases = [
    [{ tradingDisabled: true }, 'Trading operations are disabled in live mode for safety'],
    [{ outcome: outcomeWith({ stopLoss: '' }) }, 'Stop Loss and Take Profit are required for all trades'],
    [{ outcome: outcomeWith({ takeProfit: '' }) }, 'Stop Loss and Take Profit are required for all trades'],
    [{ outcome: outcomeWith({ isEstimate: true }) }, 'An estimate cannot be submitted'],
    [{ order: {} as OrderResult }, 'This calculation was already traded'],
  ] as const;
  for (const [change, tip] of cases) expect(submitTip(submitState({ ...ready, ...change }))).toBe(tip);
});

test('keeps the button enabled without a calculation', () => {
  const state = submitState({ ...ready, calculationId: undefined, outcome: undefined });
  expect(state).toBe('not-calculated');
  expect(submitTip(state)).toBeUndefined();
});

// Requirements: trading-calculator-and-execution-6
test('a calculation with unsaved settings that the page no longer remembers cannot be submitted', () => {
  const forgotten = { ...ready, outcome: undefined, isUnsaved: true };
  expect(submitState(forgotten)).toBe('outdated');
  expect(submitState({ ...forgotten, order: {} as OrderResult })).toBe('traded');
  expect(submitState({ ...ready, isUnsaved: true })).toBe('ready');
});

test('leaves a calculation the page no longer remembers to the server', () => {
  expect(submitState({ ...ready, outcome: undefined })).toBe('ready');
});

// Requirements: trading-calculator-and-execution-6
test('marks a calculation with other settings than those on the screen as outdated, and names its method', () => {
  const changes = [
    { positionSizingMethod: 'Risk Management', investmentPortion: null, maximumRiskPerTrade: '0.05' },
    { investmentPortion: '0.15' },
    { investmentPortion: null },
  ] as const;
  for (const change of changes) {
    const settings = { ...technical, ...change };
    expect(submitState({ ...ready, settings })).toBe('outdated');
    expect(submitState({ ...ready, settings, outcome: undefined })).toBe('outdated');
    // Also when the new settings are stored, and when something else blocks the order.
    expect(submitState({ ...ready, settings, storedSettings: settings })).toBe('outdated');
    expect(submitState({ ...ready, settings, outcome: outcomeWith({ isEstimate: true }) })).toBe('outdated');
    expect(submitState({ ...ready, settings, order: {} as OrderResult })).toBe('traded');
  }
  expect(submitTip('outdated', 'Technical Analysis')).toBe(
    'Calculated with other settings (Technical Analysis): calculate again',
  );
  expect(submitTip('outdated')).toBe('Calculated with other settings: calculate again');
});
