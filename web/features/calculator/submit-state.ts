import type { OrderResult } from '#contract/position-maker.ts';
import type { SizingMethod } from '#domain/user-settings.ts';
import type { CalculationOutcome } from './calculate.ts';
import { type CalculationSettings, isSameSettings } from './calculation-settings.ts';

/** Whether an order may be prepared; the server asks all of it again. */
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

export const LIVE_MODE_TEXT = 'Trading operations are disabled in live mode for safety';

export function submitState(options: {
  /** Of the calculation in the address; the page may have forgotten its figures. */
  calculationId: string | undefined;
  outcome: CalculationOutcome | undefined;
  order: OrderResult | null | undefined;
  tradingDisabled: boolean;
  /** As they are on the screen, and as they are stored. */
  settings: CalculationSettings;
  storedSettings: CalculationSettings;
}): SubmitState {
  const { calculationId, outcome, order, tradingDisabled, settings, storedSettings } = options;
  if (tradingDisabled) return 'live-mode';
  if (calculationId === undefined) return 'not-calculated';
  if (order) return 'traded';
  // A calculation saves its settings first: one that the page has forgotten was made with stored ones.
  if (!isSameSettings(settings, outcome?.settings ?? storedSettings)) return 'outdated';
  if (!outcome?.answer.success) return 'ready';
  const { isEstimate, position } = outcome.answer;
  if (!position.stopLoss || !position.takeProfit) return 'unprotected';
  return isEstimate ? 'estimate' : 'ready';
}

/** `method`: the one that was calculated with, as far as the page knows it. */
export const outdatedText = (method: SizingMethod | undefined): string =>
  `Calculated with other settings${method === undefined ? '' : ` (${method})`}: calculate again`;

const TIPS: Partial<Record<SubmitState, string>> = {
  'live-mode': LIVE_MODE_TEXT,
  unprotected: 'Stop Loss and Take Profit are required for all trades',
  estimate: 'An estimate cannot be submitted',
  traded: 'This calculation was already traded',
};

/** Why the button is disabled. Without a calculation it stays enabled and answers what is missing. */
export const submitTip = (state: SubmitState, method?: SizingMethod): string | undefined =>
  state === 'outdated' ? outdatedText(method) : TIPS[state];
