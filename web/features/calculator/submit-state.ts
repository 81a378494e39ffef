import type { OrderResult } from '#contract/position-maker.ts';
import type { CalculationOutcome } from './calculate.ts';

/** Whether an order may be prepared; the server asks all of it again. */
export type SubmitState = 'ready' | 'not-calculated' | 'live-mode' | 'estimate' | 'unprotected' | 'traded';

/** Part 2 §4. */
export const NO_POSITION_DATA = {
  title: 'No Position Data',
  message: 'Please calculate position parameters first.',
};

/** Part 2 §4. */
export const LIVE_MODE_TEXT = 'Trading operations are disabled in live mode for safety';

export function submitState(options: {
  /** Of the calculation in the address; the page may have forgotten its figures. */
  calculationId: string | undefined;
  outcome: CalculationOutcome | undefined;
  order: OrderResult | null | undefined;
  tradingDisabled: boolean;
}): SubmitState {
  const { calculationId, outcome, order, tradingDisabled } = options;
  if (tradingDisabled) return 'live-mode';
  if (calculationId === undefined) return 'not-calculated';
  if (order) return 'traded';
  if (!outcome?.answer.success) return 'ready';
  const { isEstimate, position } = outcome.answer;
  if (!position.stopLoss || !position.takeProfit) return 'unprotected';
  return isEstimate ? 'estimate' : 'ready';
}

const TIPS: Partial<Record<SubmitState, string>> = {
  'live-mode': LIVE_MODE_TEXT,
  unprotected: 'Stop Loss and Take Profit are required for all trades',
  estimate: 'An estimate cannot be submitted',
  traded: 'This calculation was already traded',
};

/** Why the button is disabled. Without a calculation it stays enabled and answers what is missing. */
export const submitTip = (state: SubmitState): string | undefined => TIPS[state];
