import { type Decimal, toPlain } from '#domain/decimal.ts';
import type { AccountBalance, ClosedPosition, OpenPosition, OrderReport, Protection } from '../exchange.ts';
import {
  type AccountBalances,
  liveTrigger,
  type PaperOrder,
  type PaperPosition,
  type TokenBook,
  unrealisedProfit,
} from './book.ts';
import { liquidationPrice } from './matching.ts';
import type { PastPosition } from './paper-queries.ts';

/* Converts the books to the types of the exchange port. */

const QUOTIENT_PLACES = 12;

const orNull = (value: Decimal | null | undefined) => (value ? toPlain(value) : null);
const average = (value: Decimal, size: Decimal) => toPlain(value.div(size).toDecimalPlaces(QUOTIENT_PLACES));

const STATES: Record<PaperOrder['state'], OrderReport['state']> = {
  live: 'open',
  partially_filled: 'partially-filled',
  filled: 'filled',
  canceled: 'cancelled',
};

export function orderReport(token: string, order: PaperOrder): OrderReport {
  const report = {
    orderId: String(order.id),
    clientOrderId: order.clientOrderId,
    token,
    side: order.side,
    state: STATES[order.state],
    price: orNull(order.price),
    quantity: toPlain(order.size),
    filledQuantity: toPlain(order.filledSize),
    averagePrice: order.filledSize.gt(0) ? average(order.filledValue, order.filledSize) : null,
    fee: toPlain(order.fee),
    stopLoss: orNull(order.presetStopLoss),
    takeProfit: orNull(order.presetTakeProfit),
    updatedAt: order.updatedAt,
  };
  const { leverage, marginMode, type, reduceOnly, createdAt } = order;
  return { ...report, raw: { ...report, type, reduceOnly, leverage, marginMode, createdAt } };
}

export function openPosition(token: string, position: PaperPosition, mark: Decimal | null): OpenPosition {
  return {
    token,
    side: position.side,
    quantity: toPlain(position.size),
    entryPrice: toPlain(position.entryPrice),
    markPrice: toPlain(mark ?? position.entryPrice),
    leverage: position.leverage,
    marginMode: position.marginMode,
    margin: toPlain(position.margin),
    unrealisedProfit: mark ? toPlain(unrealisedProfit(position, mark)) : '0',
    liquidationPrice: liquidation(position),
    openedAt: position.openedAt,
  };
}

/** With low leverage the liquidation price would be zero or less. */
function liquidation(position: PaperPosition): string | null {
  const price = liquidationPrice(position).toDecimalPlaces(QUOTIENT_PLACES);
  return price.gt(0) ? toPlain(price) : null;
}

export const protectionOf = (book: TokenBook): Protection => ({
  stopLoss: orNull(liveTrigger(book, 'pos_loss')?.triggerPrice),
  takeProfit: orNull(liveTrigger(book, 'pos_profit')?.triggerPrice),
});

export const accountBalance = ({ equity, available, locked }: AccountBalances): AccountBalance => ({
  futuresBalance: toPlain(equity),
  futuresAvailable: toPlain(available),
  futuresLocked: toPlain(locked),
  spotBalance: null,
  spotAvailable: null,
  spotLocked: null,
});

export const closedPosition = (past: PastPosition): ClosedPosition => ({
  positionId: String(past.id),
  token: past.token,
  side: past.side,
  quantity: toPlain(past.openedSize),
  entryPrice: average(past.openedValue, past.openedSize),
  closePrice: average(past.closedValue, past.closedSize),
  realisedProfit: toPlain(past.profit),
  fees: toPlain(past.openFee.plus(past.closeFee)),
  funding: '0',
  openedAt: past.openedAt,
  closedAt: past.closedAt,
});
