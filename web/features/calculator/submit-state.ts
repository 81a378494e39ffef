import type { OrderResult } from '#contract/position-maker.ts';
import type { SizingMethod } from '#domain/user-settings.ts';
import { type CalculationSettings, isSameSettings } from './calculation-settings.ts';
import type { CalculationOutcome } from './run-calculation.ts';

/** Whether an order may be prepared. The server repeats every check. */
export type SubmitState =
  | 'ready'
  | 'not-calculated'
  | 'live-mode'
  | 'estimate'
  | 'unprotected'
  | 'traded'
  | 'outdated';

export const NO_POSITION_DATA = {
  title: 'No Position Data',
  message: 'Please calculate position parameters first.',
};

export function submitState(options: {
  /** The calculation in the URL; the page may no longer remember its figures. */
  calculationId: string | undefined;
  outcome: CalculationOutcome | undefined;
  /** It used settings that were not saved. */
  isUnsaved: boolean;
  order: OrderResult | null | undefined;
  tradingDisabled: boolean;
  /** The settings on the screen, and the stored ones. */
  settings: CalculationSettings;
  storedSettings: CalculationSettings;
}): SubmitState {
  const { calculationId, outcome, isUnsaved, order, tradingDisabled, settings, storedSettings } = options;
  if (tradingDisabled) return 'live-mode';
  if (calculationId === undefined) return 'not-calculated';
  if (order) return 'traded';
  // Without its settings nobody can compare them with those on the screen.
  if (outcome === undefined && isUnsaved) return 'outdated';
  // A calculation the page no longer remembers used the stored settings.
  if (!isSameSettings(settings, outcome?.settings ?? storedSettings)) return 'outdated';
  if (!outcome?.answer.success) return 'ready';
  const { isEstimate, position } = outcome.answer;
  if (!position.stopLoss || !position.takeProfit) return 'unprotected';
  return isEstimate ? 'estimate' : 'ready';
}

const TIPS: Partial<Record<SubmitState, string>> = {
  'live-mode': 'Trading operations are disabled in live mode for safety',
  unprotected: 'Stop Loss and Take Profit are required for all trades',
  estimate: 'An estimate cannot be submitted',
  traded: 'This calculation was already traded',
};

/**
 * Why the button is disabled. Without a calculation the button stays enabled, and clicking it says what is missing.
 * `method`: the method of the calculation, if the page knows it.
 */
export function submitTip(state: SubmitState, method?: SizingMethod): string | undefined {
  if (state !== 'outdated') return TIPS[state];
  return `Calculated with other settings${method === undefined ? '' : ` (${method})`}: calculate again`;
}
