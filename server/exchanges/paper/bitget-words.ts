import { toPlain } from '#domain/decimal.ts';
import type { EntryOrder, OrderDescription } from '../exchange.ts';
import type { RefusalReason, RefusalWords } from './refusals.ts';

/** An entry as it would be sent to Bitget: what is shown before it is confirmed. */
export const bitgetEntry = (order: EntryOrder): OrderDescription => ({
  method: 'POST',
  endpoint: '/api/v2/mix/order/place-order',
  payload: {
    symbol: `${order.token}USDT`,
    productType: 'USDT-FUTURES',
    marginCoin: 'USDT',
    marginMode: 'isolated',
    side: order.side,
    orderType: 'limit',
    price: order.price,
    size: order.quantity,
    force: 'GTC',
    clientOid: order.clientOrderId,
    presetStopLossPrice: order.stopLoss,
    presetStopSurplusPrice: order.takeProfit,
  },
});

/** Bitget's code and words for what the books refuse. */
export function bitgetRefusal(reason: RefusalReason): RefusalWords {
  switch (reason.kind) {
    case 'position-mode':
      return words(
        '40774',
        'The order type for unilateral position must also be the unilateral position type.',
      );
    case 'off-step':
      return words(
        '40808',
        `Parameter verification exception ${reason.field} checkBDScale error value=${toPlain(reason.value)} checkScale=${reason.step}`,
      );
    case 'price-missing':
      return words('40017', 'Parameter verification failed price');
    case 'no-market-price':
      return words('40020', 'There is no market price yet');
    case 'below-minimum-quantity':
      return words('45111', `less than the minimum order quantity ${reason.minimum}`);
    case 'below-minimum-notional':
      return words('45110', `less than the minimum amount ${reason.minimum} USDT`);
    case 'wrong-side':
      return wrongSide(reason);
    case 'duplicate-client-order-id':
      return words('40786', 'Duplicate clientOid');
    case 'no-position':
      return words('22002', 'No position to close');
    case 'balance':
      return words('40762', 'The order amount exceeds the balance');
    case 'leverage-too-high':
      return words('40797', 'Exceeded the maximum settable leverage');
    case 'order-unknown':
      return words('40768', 'Order does not exist');
    case 'order-ended':
      return words('22001', 'No order to cancel');
    case 'business-open':
      return reason.setting === 'position mode'
        ? words('40920', 'Position or order exists, the position mode cannot be switched')
        : words('45117', 'Currently holding positions or orders, the margin mode cannot be adjusted');
  }
}

const words = (code: string, message: string): RefusalWords => ({ code, message });

function wrongSide({ planType, side, price }: Extract<RefusalReason, { kind: 'wrong-side' }>): RefusalWords {
  const at = toPlain(price);
  if (planType === 'pos_profit') {
    const relation = side === 'long' ? '>' : '<';
    return words('40915', `Take profit price of a ${side} position please ${relation} mark price ${at}`);
  }
  return side === 'long'
    ? words('40917', `Stop price for long positions please < mark price ${at}`)
    : words('45122', `Short position stop loss price please > mark price ${at}`);
}
