import { D, type Decimal, floorToStep, toPlain } from '#domain/decimal.ts';
import {
  isPending,
  kindOfPlan,
  type OrderOfToken,
  type PaperOrder,
  type PaperTrigger,
  remainingSize,
  type TokenBook,
} from '#server/exchanges/paper/book.ts';
import { MAKER_FEE, paperTick, TAKER_FEE } from '#server/exchanges/paper/paper-contracts.ts';
import type { StoredFill } from '#server/exchanges/paper/paper-queries.ts';
import type { LedgerRow } from '../venue-ledger.ts';
import type { ClosedOrder } from './closed-orders.ts';
import { orderIdOf } from './parameters.ts';
import { millis, orEmpty, plain, sideView } from './views.ts';

/* Orders, fills and closings in Bybit's format. */

const average = (value: Decimal, size: Decimal) => plain(value.div(size).toDecimalPlaces(12));

const STATUSES: Record<PaperOrder['state'], string> = {
  live: 'New',
  partially_filled: 'PartiallyFilled',
  filled: 'Filled',
  // Also if it was partly filled.
  canceled: 'Cancelled',
};

const SOURCES: Record<PaperOrder['source'], { stopOrderType: string; createType: string }> = {
  normal: { stopOrderType: '', createType: 'CreateByUser' },
  pos_loss: { stopOrderType: 'StopLoss', createType: 'CreateByStopLoss' },
  pos_profit: { stopOrderType: 'TakeProfit', createType: 'CreateByTakeProfit' },
  liquidation: { stopOrderType: '', createType: 'CreateByLiq' },
};

/** Bybit shows a market order with its worst possible price: 5 % beyond the market. */
function priceView(token: string, order: PaperOrder): string {
  if (order.price) return plain(order.price);
  if (order.filledSize.isZero()) return '0';
  const worst = order.filledValue.div(order.filledSize).times(order.side === 'buy' ? '1.05' : '0.95');
  return plain(floorToStep(worst, paperTick(token, 'Bybit')));
}

/** The fields of every order and conditional order, with their values for 'none'. */
const NO_ORDER = {
  orderLinkId: '',
  slLimitPrice: '0',
  cancelType: 'UNKNOWN',
  avgPrice: '',
  lastPriceOnCreated: '',
  takeProfit: '',
  cumExecValue: '0',
  tpslMode: 'Full',
  smpType: 'None',
  triggerDirection: 0,
  blockTradeId: '',
  cumFeeDetail: {},
  rejectReason: 'EC_NoError',
  isLeverage: '',
  price: '0',
  orderIv: '',
  tpTriggerBy: '',
  positionIdx: 0,
  leavesValue: '0',
  smpGroup: 0,
  triggerPrice: '',
  tpLimitPrice: '0',
  cumExecFee: '0',
  slTriggerBy: '',
  closeOnTrigger: false,
  placeType: '',
  cumExecQty: '0',
  stopLoss: '',
  smpOrderId: '',
  triggerBy: '',
  extraFees: '',
};

export function orderView({ token, order }: OrderOfToken) {
  const isFilled = order.filledSize.gt(0);
  const leaves = isPending(order) ? remainingSize(order) : D(0);
  const hasPresets = order.presetStopLoss !== null || order.presetTakeProfit !== null;
  const isCancelled = order.state === 'canceled';
  return {
    ...NO_ORDER,
    ...SOURCES[order.source],
    symbol: `${token}USDT`,
    orderType: order.type === 'market' ? 'Market' : 'Limit',
    // Orders sent by the exchange itself have no client order id.
    orderLinkId: order.source === 'normal' ? order.clientOrderId : '',
    orderId: orderIdOf(order.id),
    cancelType: isCancelled ? 'CancelByUser' : 'UNKNOWN',
    avgPrice: isFilled ? average(order.filledValue, order.filledSize) : '',
    orderStatus: STATUSES[order.state],
    takeProfit: orEmpty(order.presetTakeProfit),
    cumExecValue: plain(order.filledValue),
    tpslMode: hasPresets ? 'Full' : '',
    cumFeeDetail: isFilled ? { USDT: plain(order.fee) } : {},
    rejectReason: isCancelled ? 'EC_PerCancelRequest' : 'EC_NoError',
    price: priceView(token, order),
    createdTime: millis(order.createdAt),
    tpTriggerBy: order.presetTakeProfit ? 'MarkPrice' : '',
    timeInForce: order.type === 'market' ? 'IOC' : 'GTC',
    leavesValue: order.price ? plain(leaves.times(order.price)) : '0',
    updatedTime: millis(order.updatedAt),
    side: sideView(order.side),
    cumExecFee: plain(order.fee),
    slTriggerBy: order.presetStopLoss ? 'MarkPrice' : '',
    leavesQty: plain(leaves),
    cumExecQty: plain(order.filledSize),
    reduceOnly: order.reduceOnly,
    qty: plain(order.size),
    stopLoss: orEmpty(order.presetStopLoss),
  };
}

/** The stop or target of a position in its form as a conditional order. */
export function triggerView(book: TokenBook, trigger: PaperTrigger) {
  const isFalling = (kindOfPlan(trigger.planType) === 'pos_loss') === (trigger.holdSide === 'long');
  const size = plain(book.position?.size ?? trigger.size);
  return {
    ...NO_ORDER,
    ...SOURCES[kindOfPlan(trigger.planType)],
    symbol: `${book.token}USDT`,
    orderType: 'Market',
    orderId: orderIdOf(trigger.id),
    orderStatus: trigger.state === 'live' ? 'Untriggered' : 'Deactivated',
    triggerDirection: isFalling ? 2 : 1,
    createdTime: millis(trigger.createdAt),
    timeInForce: 'IOC',
    updatedTime: millis(trigger.updatedAt),
    side: trigger.holdSide === 'long' ? 'Sell' : 'Buy',
    triggerPrice: plain(trigger.triggerPrice),
    leavesQty: size,
    closeOnTrigger: true,
    reduceOnly: true,
    qty: size,
    triggerBy: 'MarkPrice',
  };
}

export function executionView(fill: StoredFill, order: PaperOrder | undefined) {
  const rate = fill.liquidity === 'maker' ? MAKER_FEE : TAKER_FEE;
  return {
    symbol: `${fill.token}USDT`,
    orderType: order?.type === 'market' ? 'Market' : 'Limit',
    underlyingPrice: '',
    orderLinkId: order?.source === 'normal' ? order.clientOrderId : '',
    side: fill.side === 'buy' ? 'Buy' : 'Sell',
    indexPrice: '',
    orderId: orderIdOf(fill.orderId),
    stopOrderType: (order && SOURCES[order.source].stopOrderType) || 'UNKNOWN',
    leavesQty: '0',
    execTime: millis(fill.createdAt),
    feeCurrency: '',
    isMaker: fill.liquidity === 'maker',
    execFee: toPlain(fill.fee),
    feeRate: rate,
    execId: orderIdOf(fill.id),
    tradeIv: '',
    blockTradeId: '',
    markPrice: toPlain(fill.price),
    execPrice: toPlain(fill.price),
    markIv: '',
    orderQty: order ? plain(order.size) : '',
    orderPrice: order ? priceView(fill.token, order) : '',
    execValue: toPlain(fill.value),
    execType: order?.source === 'liquidation' ? 'BustTrade' : 'Trade',
    execQty: toPlain(fill.size),
    closedSize: '',
    seq: Number(fill.id % 1_000_000_000n),
    createType: order ? SOURCES[order.source].createType : '',
    feeCoin: 'USDT',
  };
}

/** An execution that is no fill, such as a split of the underlying. */
export const otherExecutionView = (token: string, { execType, at }: { execType: string; at: Date }) => ({
  symbol: `${token}USDT`,
  orderType: 'UNKNOWN',
  orderLinkId: '',
  side: 'Buy',
  orderId: `${execType}-${at.getTime()}`,
  execTime: millis(at),
  feeCurrency: '',
  execFee: '0',
  execId: `${execType}-${token}-${at.getTime()}`,
  execPrice: '0',
  execValue: '0',
  execType,
  execQty: '1',
  closedSize: '',
  seq: 0,
});

const TRANSFERS = { deposit: 'TRANSFER_IN', withdrawal: 'TRANSFER_OUT', funding: 'SETTLEMENT' };

/** A row of the transaction log; funding is positive where received, fees where paid. */
export function transactionView(row: LedgerRow, userId: string) {
  const { fill, order, kind, amount, fee } = row;
  const isFunding = kind === 'funding';
  const isLiquidation = order?.source === 'liquidation';
  return {
    transSubType: '',
    id: `${userId.slice(0, 6)}_${row.token ?? ''}_${row.id}`,
    symbol: row.token === null ? '' : `${row.token}USDT`,
    category: row.token === null ? '' : 'linear',
    side: fill === null ? 'None' : sideView(fill.side),
    transactionTime: millis(row.at),
    type: kind === 'fill' ? (isLiquidation ? 'LIQUIDATION' : 'TRADE') : TRANSFERS[kind],
    qty: fill === null ? '0' : toPlain(fill.size),
    size: '0',
    currency: 'USDT',
    tradePrice: fill === null ? '0' : toPlain(fill.price),
    funding: isFunding ? toPlain(amount) : '',
    fee: fill === null ? '' : toPlain(fee),
    cashFlow: isFunding ? '0' : toPlain(amount),
    change: toPlain(amount.minus(fee)),
    cashBalance: toPlain(row.balance),
    feeRate: '',
    bonusChange: '',
    tradeId: fill === null ? '' : orderIdOf(fill.id),
    orderId: fill === null ? '' : orderIdOf(fill.orderId),
    orderLinkId: order?.source === 'normal' ? order.clientOrderId : '',
    extraFees: '',
  };
}

/** One row per closing order; its side is the order's, opposite to the position's. */
export function closedPnlView(closed: ClosedOrder, order: PaperOrder | undefined) {
  const { openFee, closeFee } = closed;
  return {
    symbol: `${closed.token}USDT`,
    orderType: order?.type === 'limit' ? 'Limit' : 'Market',
    leverage: String(order?.leverage ?? ''),
    updatedTime: millis(closed.createdAt),
    side: closed.side === 'buy' ? 'Buy' : 'Sell',
    orderId: orderIdOf(closed.orderId),
    closedPnl: plain(closed.profit.minus(openFee).minus(closeFee)),
    avgEntryPrice: average(closed.entryValue, closed.size),
    qty: order ? plain(order.size) : plain(closed.size),
    cumEntryValue: plain(closed.entryValue),
    createdTime: millis(order?.createdAt ?? closed.createdAt),
    orderPrice: order ? priceView(closed.token, order) : '',
    closedSize: plain(closed.size),
    avgExitPrice: average(closed.exitValue, closed.size),
    execType: order?.source === 'liquidation' ? 'BustTrade' : 'Trade',
    fillCount: String(closed.fills),
    cumExitValue: plain(closed.exitValue),
    openFee: plain(openFee),
    closeFee: plain(closeFee),
  };
}
