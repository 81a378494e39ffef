import { D, toPlain } from '#domain/decimal.ts';
import type { PaperOrder } from '#server/exchanges/paper/book.ts';
import type { Contradiction, StruckFaults } from './faults.ts';

/** One exchange's names of the fields of an order. */
export interface OrderFields<View> {
  side: keyof View;
  clientOrderId: keyof View;
  symbol: keyof View;
  quantity: keyof View;
  filled: keyof View;
  averagePrice: keyof View;
}

const OTHER_SIDE: Record<string, string> = { buy: 'sell', sell: 'buy', Buy: 'Sell', Sell: 'Buy' };
const LONG_PRICE = '6'.repeat(200_000);

/** The answer to a look-up of an entry; as it is unless a fault contradicts it. */
export function contradicted<View extends object>(
  view: View,
  { order, faults, fields }: { order: PaperOrder; faults: StruckFaults; fields: OrderFields<View> },
): View {
  const fault = faults.find('contradictoryLookUps');
  if (!fault || order.reduceOnly || order.source !== 'normal') return view;
  const tenfold = toPlain(D(order.size).times(10));
  const changes: Record<Contradiction, [keyof View, string]> = {
    'the other side': [fields.side, OTHER_SIDE[String(view[fields.side])] ?? ''],
    'another client order id': [fields.clientOrderId, 'somebody-elses'],
    'another symbol': [fields.symbol, 'OTHERUSDT'],
    'another quantity': [fields.quantity, tenfold],
    'ten times the quantity filled': [fields.filled, tenfold],
    'a volume of NaN': [fields.filled, 'NaN'],
    'a negative volume': [fields.filled, '-0.01'],
    'a price of 200,000 digits': [fields.averagePrice, LONG_PRICE],
  };
  const [field, value] = changes[fault.shows];
  return { ...view, [field]: value };
}
