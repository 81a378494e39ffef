import { choice, id, searchReader } from '../../lib/search-reader.ts';

export const parseCalculatorSearch = searchReader({
  signalId: id,
  /** The user to calculate the order for; the operator by default. */
  userId: id,
  /** positionGeneratorLogId of the displayed calculation, used to find its order again after a reload. */
  calculation: id,
  dialog: choice(['signal', 'price-log', 'order', 'result']),
});

export type CalculatorSearch = ReturnType<typeof parseCalculatorSearch>;
