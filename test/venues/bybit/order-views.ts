import { D, type Decimal, floorToStep, toPlain } from '#domain/decimal.ts';
import type { OrderOfToken, PaperOrder, PaperTrigger, TokenBook } from '#server/exchanges/paper/book.ts';
import { MAKER_FEE, TAKER_FEE } from '#server/exchanges/paper/matching.ts';
import { paperContract } from '#server/exchanges/paper/paper-contracts.ts';
import type { StoredFill } from '#server/exchanges/paper/paper-queries.ts';
import type { ClosedOrder } from './closed-orders.ts';
import { orderIdOf } from './parameters.ts';
import { millis, orEmpty, plain, sideView } from './views.ts';

/* Orders, and what became of them, as Bybit shows them. */

const average = (value: Decimal, size: Decimal) => plain(value.div(size).toDecimalPlaces(12));

const STATUSES: Record<PaperOrder['state'], string> = {
  live: 'New',
  partially_filled: 'PartiallyFilled',
  filled: 'Filled',
  // Also when a part of it was filled.
  canceled: 'Cancelled',
};

const SOURCES: Record<PaperOrder['source'], { stopOrderType: string; createType: string }> = {
  normal: { stopOrderType: '', createType: 'CreateByUser' },
  pos_loss: { stopOrderType: 'StopLoss', createType: 'CreateByStopLoss' },
  pos_profit: { stopOrderType: 'TakeProfit', createType: 'CreateByTakeProfit' },
  liquidation: { stopOrderType: '', createType: 'CreateByLiq' },
};

/** A market order is shown with the worst price that it may have: 5 % beyond the market. */
function priceView(token: string, order: PaperOrder): string {
  if (order.price) return plain(order.price);
  if (order.filledSize.isZero()) return '0';
  const worst = order.filledValue.div(order.filledSize).times(order.side === 'buy' ? '1.05' : '0.95');
  return plain(floorToStep(worst, paperContract(token, 'Bybit').tickSize));
}

export function orderView({ token, order }: OrderOfToken) {
  const isFilled = order.filledSize.gt(0);
  const isPending = order.state === 'live' || order.state === 'partially_filled';
  const leaves = isPending ? order.size.minus(order.filledSize) : D(0);
  const hasPresets = order.presetStopLoss !== null || order.presetTakeProfit !== null;
  return {
    symbol: `${token}USDT`,
    orderType: order.type === 'market' ? 'Market' : 'Limit',
    // What the exchange itself sends has no id of the client's.
    orderLinkId: order.source === 'normal' ? order.clientOrderId : '',
    slLimitPrice: '0',
    orderId: orderIdOf(order.id),
    cancelType: order.state === 'canceled' ? 'CancelByUser' : 'UNKNOWN',
    avgPrice: isFilled ? average(order.filledValue, order.filledSize) : '',
    lastPriceOnCreated: '',
    orderStatus: STATUSES[order.state],
    ...SOURCES[order.source],
    takeProfit: orEmpty(order.presetTakeProfit),
    cumExecValue: plain(order.filledValue),
    tpslMode: hasPresets ? 'Full' : '',
    smpType: 'None',
    triggerDirection: 0,
    blockTradeId: '',
    cumFeeDetail: isFilled ? { USDT: plain(order.fee) } : {},
    rejectReason: order.state === 'canceled' ? 'EC_PerCancelRequest' : 'EC_NoError',
    isLeverage: '',
    price: priceView(token, order),
    orderIv: '',
    createdTime: millis(order.createdAt),
    tpTriggerBy: order.presetTakeProfit ? 'MarkPrice' : '',
    positionIdx: 0,
    timeInForce: order.type === 'market' ? 'IOC' : 'GTC',
    leavesValue: order.price ? plain(leaves.times(order.price)) : '0',
    updatedTime: millis(order.updatedAt),
    side: sideView(order.side),
    smpGroup: 0,
    triggerPrice: '',
    tpLimitPrice: '0',
    cumExecFee: plain(order.fee),
    slTriggerBy: order.presetStopLoss ? 'MarkPrice' : '',
    leavesQty: plain(leaves),
    closeOnTrigger: false,
    placeType: '',
    cumExecQty: plain(order.filledSize),
    reduceOnly: order.reduceOnly,
    qty: plain(order.size),
    stopLoss: orEmpty(order.presetStopLoss),
    smpOrderId: '',
    triggerBy: '',
    extraFees: '',
  };
}

/** The stop or target of a position, as the conditional order that it also is. */
export function triggerView(book: TokenBook, trigger: PaperTrigger) {
  const { stopOrderType, createType } = SOURCES[trigger.planType];
  const isFalling = (trigger.planType === 'pos_loss') === (trigger.holdSide === 'long');
  const size = plain(book.position?.size ?? trigger.size);
  return {
    symbol: `${book.token}USDT`,
    orderType: 'Market',
    orderLinkId: '',
    slLimitPrice: '0',
    orderId: orderIdOf(trigger.id),
    cancelType: 'UNKNOWN',
    avgPrice: '',
    stopOrderType,
    lastPriceOnCreated: '',
    orderStatus: trigger.state === 'live' ? 'Untriggered' : 'Deactivated',
    createType,
    takeProfit: '',
    cumExecValue: '0',
    tpslMode: 'Full',
    smpType: 'None',
    triggerDirection: isFalling ? 2 : 1,
    blockTradeId: '',
    cumFeeDetail: {},
    rejectReason: 'EC_NoError',
    isLeverage: '',
    price: '0',
    orderIv: '',
    createdTime: millis(trigger.createdAt),
    tpTriggerBy: '',
    positionIdx: 0,
    timeInForce: 'IOC',
    leavesValue: '0',
    updatedTime: millis(trigger.updatedAt),
    side: trigger.holdSide === 'long' ? 'Sell' : 'Buy',
    smpGroup: 0,
    triggerPrice: plain(trigger.triggerPrice),
    tpLimitPrice: '0',
    cumExecFee: '0',
    slTriggerBy: '',
    leavesQty: size,
    closeOnTrigger: true,
    placeType: '',
    cumExecQty: '0',
    reduceOnly: true,
    qty: size,
    stopLoss: '',
    smpOrderId: '',
    triggerBy: 'MarkPrice',
    extraFees: '',
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

/** One row for each order that closed something; its side is the order's, opposite to the position's. */
export function closedPnlView(closed: ClosedOrder, order: PaperOrder | undefined) {
  const { openFee, closeFee } = closed;
  return {
    symbol: `${closed.token}USDT`,
    orderType: order?.type === 'limit' ? 'Limit' : 'Market',
    leverage: String(order?.leverage ?? ''),
    updatedTime: millis(closed.closedAt),
    side: closed.side === 'buy' ? 'Buy' : 'Sell',
    orderId: orderIdOf(closed.orderId),
    closedPnl: plain(closed.profit.minus(openFee).minus(closeFee)),
    avgEntryPrice: average(closed.entryValue, closed.size),
    qty: order ? plain(order.size) : plain(closed.size),
    cumEntryValue: plain(closed.entryValue),
    createdTime: millis(order?.createdAt ?? closed.closedAt),
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
