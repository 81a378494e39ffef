import { choiceParam, textParam } from '../../lib/search-params.ts';

export const CALCULATOR_DIALOGS = ['signal', 'price-log', 'order', 'result'] as const;
export type CalculatorDialogName = (typeof CALCULATOR_DIALOGS)[number];

export interface CalculatorSearch {
  signalId?: string | undefined;
  /** Whose order is calculated; without one the operator's own. */
  userId?: string | undefined;
  /** The positionGeneratorLogId of the calculation on the screen: with it an order is found again. */
  calculation?: string | undefined;
  dialog?: CalculatorDialogName | undefined;
}

export function parseCalculatorSearch(raw: Record<string, unknown>): CalculatorSearch {
  return {
    signalId: textParam(raw, 'signalId')?.toLowerCase(),
    userId: textParam(raw, 'userId')?.toLowerCase(),
    calculation: textParam(raw, 'calculation')?.toLowerCase(),
    dialog: choiceParam(raw, 'dialog', CALCULATOR_DIALOGS),
  };
}
