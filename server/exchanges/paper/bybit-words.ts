import { type Decimal, toPlain } from '#domain/decimal.ts';
import type { EntryOrder, OrderDescription } from '../exchange.ts';
import type { RefusalReason, RefusalWords } from './refusals.ts';

/** An entry as it would be sent to Bybit: what is shown before it is confirmed. */
export const bybitEntry = (order: EntryOrder): OrderDescription => ({
  method: 'POST',
  endpoint: '/v5/order/create',
  payload: {
    category: 'linear',
    symbol: `${order.token}USDT`,
    side: order.side === 'buy' ? 'Buy' : 'Sell',
    orderType: 'Limit',
    price: order.price,
    qty: order.quantity,
    timeInForce: 'GTC',
    orderLinkId: order.clientOrderId,
    stopLoss: order.stopLoss,
    takeProfit: order.takeProfit,
    tpslMode: 'Full',
    slTriggerBy: 'MarkPrice',
    tpTriggerBy: 'MarkPrice',
    slOrderType: 'Market',
    tpOrderType: 'Market',
    positionIdx: 0,
  },
});

/**
 * Bybit's code and words for what the books refuse. The codes are those of its list; which of them answers which
 * mistake in a field (all 10001 here) is not documented one by one, and the sentences differ from time to time.
 */
export function bybitRefusal(reason: RefusalReason): RefusalWords {
  switch (reason.kind) {
    case 'position-mode':
      return words('10001', 'position idx not match position mode');
    case 'off-step':
      return words('10001', `${FIELD_WORDS[reason.field]} invalid`);
    case 'price-missing':
      return words('10001', 'Price invalid');
    case 'no-market-price':
      return words('10001', 'There is no market price yet');
    case 'below-minimum-quantity':
      return words('10001', 'The number of contracts exceeds minimum limit allowed');
    case 'below-minimum-notional':
      return words('110094', `Order does not meet minimum order value ${reason.minimum}USDT`);
    case 'wrong-side':
      return words('10001', wrongSide(reason));
    case 'duplicate-client-order-id':
      return words('110072', 'OrderLinkedID is duplicate');
    case 'no-position':
      return words('110017', 'current position is zero, cannot fix reduce-only order qty');
    case 'balance':
      return words('110007', 'ab not enough for new order');
    case 'leverage-too-high': {
      const [asked, most] = [reason.leverage * 100, reason.maximum * 100];
      return words('110013', `cannot set leverage [${asked}] gt maxLeverage [${most}] by risk limit`);
    }
    case 'order-unknown':
    case 'order-ended':
      return words('110001', 'order not exists or too late to cancel');
    case 'business-open':
      return businessOpen(reason);
  }
}

const FIELD_WORDS = {
  size: 'Qty',
  price: 'Price',
  'stop loss': 'StopLoss',
  'take profit': 'TakeProfit',
} as const;

const words = (code: string, message: string, details?: unknown): RefusalWords => ({
  code,
  message,
  details,
});

/** Prices in these sentences are multiplied by ten thousand. */
const scaled = (price: Decimal) => toPlain(price.times(10_000));

function wrongSide(reason: Extract<RefusalReason, { kind: 'wrong-side' }>): string {
  const { planType, side, trigger, price } = reason;
  const name = planType === 'pos_loss' ? 'StopLoss' : 'TakeProfit';
  const relation = (planType === 'pos_loss') === (side === 'long') ? 'lower' : 'higher';
  const position = side === 'long' ? 'Buy' : 'Sell';
  return `${name}:${scaled(trigger)} set for ${position} position should be ${relation} than base_price:${scaled(price)}??MarkPrice`;
}

function businessOpen({ setting, because }: Extract<RefusalReason, { kind: 'business-open' }>): RefusalWords {
  if (setting === 'margin mode') {
    const reasonMsg = `You have an open ${because}, so the margin mode cannot be switched`;
    return words('3400045', 'Set margin mode failed', { reasons: [{ reasonCode: '3400000', reasonMsg }] });
  }
  return because === 'position'
    ? words('110024', 'You have an existing position, so position mode cannot be switched')
    : words('110028', 'Open orders exist, so you cannot change position mode');
}
