import { choice, id, searchReader } from '../../lib/search-reader.ts';

export const parseCalculatorSearch = searchReader({
  signalId: id,
  /** The user to calculate the order for; the operator by default. */
  userId: id,
  /** positionGeneratorLogId of the displayed calculation, used to find its order again after a reload. */
  calculation: id,
  /** It used settings that were not saved, so only the page that made it knows them. */
  unsaved: choice(['yes']),
  dialog: choice(['signal', 'price-log', 'order', 'result']),
});

export type CalculatorSearch = ReturnType<typeof parseCalculatorSearch>;
