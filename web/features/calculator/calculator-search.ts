import { choiceParam, textParam } from '../../lib/search-params.ts';

const CALCULATOR_DIALOGS = ['signal', 'price-log', 'order', 'result'] as const;

export interface CalculatorSearch {
  signalId?: string | undefined;
  /** The user to calculate the order for; the operator by default. */
  userId?: string | undefined;
  /** positionGeneratorLogId of the displayed calculation, used to find its order again after a reload. */
  calculation?: string | undefined;
  dialog?: (typeof CALCULATOR_DIALOGS)[number] | undefined;
}

export function parseCalculatorSearch(raw: Record<string, unknown>): CalculatorSearch {
  return {
    signalId: textParam(raw, 'signalId')?.toLowerCase(),
    userId: textParam(raw, 'userId')?.toLowerCase(),
    calculation: textParam(raw, 'calculation')?.toLowerCase(),
    dialog: choiceParam(raw, 'dialog', CALCULATOR_DIALOGS),
  };
}
