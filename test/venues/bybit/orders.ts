import { isPending } from '#server/exchanges/paper/book.ts';
import { BookRefusal } from '#server/exchanges/paper/refusals.ts';
import type { PrivateRoutes } from '../dialect.ts';
import { isGiven, type Parameters } from '../parameters.ts';
import { cancelStruckOrder, noteCancel, placeStruckOrder } from '../struck-orders.ts';
import { matches } from '../venue-queries.ts';
import {
  decimalIn,
  linear,
  oneOf,
  optionalDecimalIn,
  orderHandleIn,
  orderIdOf,
  orderLinkIdIn,
  wrong,
} from './parameters.ts';

export const BYBIT_ORDERS: PrivateRoutes = {
  'POST /v5/order/create': linear(async (call) => {
    const { parameters, token } = call;
    const type = oneOf(parameters, 'orderType', ['Limit', 'Market']) === 'Market' ? 'market' : 'limit';
    checkTerms(parameters, type);
    const order = {
      token: await token(),
      clientOrderId: orderLinkIdIn(parameters),
      side: oneOf(parameters, 'side', ['Buy', 'Sell']) === 'Buy' ? 'buy' : 'sell',
      type,
      price: optionalDecimalIn(parameters, 'price'),
      size: decimalIn(parameters, 'qty'),
      reduceOnly: parameters.reduceOnly === 'true',
      // Always the account's mode, whatever the request says: orders have no margin mode.
      marginMode: null,
      presetStopLoss: optionalDecimalIn(parameters, 'stopLoss'),
      presetTakeProfit: optionalDecimalIn(parameters, 'takeProfit'),
    } as const;
    const placed = await placeStruckOrder(call, order);
    return { orderId: orderIdOf(placed.id), orderLinkId: placed.clientOrderId };
  }),

  'POST /v5/order/cancel': linear(async (call) => {
    const { parameters, token, inAccount } = call;
    const [name, handle] = [await token(), orderHandleIn(parameters)];
    if (handle === null) throw wrong('params error: orderId or orderLinkId is required');
    noteCancel(call, handle.clientOrderId);
    const { answer, outcome } = await inAccount(async (session) => {
      const book = session.token(name);
      const order = book.orders.find((candidate) => isPending(candidate) && matches(candidate, handle));
      if (order) {
        const { clientOrderId } = order;
        const became = await cancelStruckOrder(call, { session, book, order });
        return { outcome: became, answer: { orderId: orderIdOf(order.id), orderLinkId: clientOrderId } };
      }
      const trigger = book.triggers.find(({ id, state }) => state === 'live' && id === handle.orderId);
      // Bybit gives the same answer for an ended and an unknown order.
      if (!trigger) throw new BookRefusal({ kind: 'order-unknown' });
      Object.assign(trigger, { state: 'cancelled', updatedAt: session.now });
      return { outcome: 'done', answer: { orderId: orderIdOf(trigger.id), orderLinkId: '' } };
    });
    if (outcome === 'lost') throw new BookRefusal({ kind: 'order-ended' });
    return answer;
  }),
};

/** Rejects terms that these books do not support. */
function checkTerms(parameters: Parameters, type: 'limit' | 'market'): void {
  if ((parameters.positionIdx ?? '0') !== '0') throw wrong('position idx not match position mode');
  const usual = type === 'market' ? 'IOC' : 'GTC';
  const allowed = type === 'market' ? ['IOC', 'GTC'] : ['GTC'];
  if (!allowed.includes(parameters.timeInForce ?? usual)) throw wrong('params error: timeInForce invalid');
  checkProtectionTerms(parameters);
}

const PRICES = ['LastPrice', 'MarkPrice', 'IndexPrice'];

/** Stops and targets close the whole position at market. The books have one price, whichever trigger price is named. */
export function checkProtectionTerms(parameters: Parameters): void {
  for (const [price, trigger, orderType] of [
    ['stopLoss', 'slTriggerBy', 'slOrderType'],
    ['takeProfit', 'tpTriggerBy', 'tpOrderType'],
  ] as const) {
    if (!isGiven(parameters, price) || Number(parameters[price]) === 0) continue;
    const by = parameters[trigger] ?? 'LastPrice';
    if (!PRICES.includes(by)) throw wrong(`params error: ${trigger} invalid`);
    if ((parameters[orderType] ?? 'Market') !== 'Market') throw wrong(`params error: ${orderType} invalid`);
    if (!isGiven(parameters, 'tpslMode') && isGiven(parameters, orderType)) {
      throw wrong(`${orderType} can not have a value when tpSlMode is empty`);
    }
  }
  if ((parameters.tpslMode ?? 'Full') !== 'Full') throw wrong('params error: tpslMode must be Full here');
}
