import { expect, test } from 'vitest';
import type { OrderResult } from '#contract/position-maker.ts';
import type { CalculationOutcome } from './calculate.ts';
import { submitState, submitTip } from './submit-state.ts';

const outcomeWith = (fields: { stopLoss?: string; takeProfit?: string; isEstimate?: boolean }) => {
  const { stopLoss = '9', takeProfit = '12', isEstimate = false } = fields;
  return { answer: { success: true, isEstimate, position: { stopLoss, takeProfit } } } as CalculationOutcome;
};
const ready = {
  calculationId: 'a calculation',
  outcome: outcomeWith({}),
  order: null,
  tradingDisabled: false,
};

test('a calculation with stop and target may be submitted', () => {
  expect(submitState(ready)).toBe('ready');
  expect(submitTip('ready')).toBeUndefined();
});

test('what may not be submitted says why', () => {
  const cases = [
    [{ tradingDisabled: true }, 'Trading operations are disabled in live mode for safety'],
    [{ outcome: outcomeWith({ stopLoss: '' }) }, 'Stop Loss and Take Profit are required for all trades'],
    [{ outcome: outcomeWith({ takeProfit: '' }) }, 'Stop Loss and Take Profit are required for all trades'],
    [{ outcome: outcomeWith({ isEstimate: true }) }, 'An estimate cannot be submitted'],
    [{ order: {} as OrderResult }, 'This calculation was already traded'],
  ] as const;
  for (const [change, tip] of cases) expect(submitTip(submitState({ ...ready, ...change }))).toBe(tip);
});

test('without a calculation the button answers what is missing', () => {
  const state = submitState({ ...ready, calculationId: undefined, outcome: undefined });
  expect(state).toBe('not-calculated');
  expect(submitTip(state)).toBeUndefined();
});

test('a calculation that the page has forgotten is left to the server', () => {
  expect(submitState({ ...ready, outcome: undefined })).toBe('ready');
});
