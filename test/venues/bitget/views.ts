import { D, type Decimal, toPlain } from '#domain/decimal.ts';
import type { Contract } from '#server/exchanges/exchange.ts';
import {
  type AccountBalances,
  type AccountBook,
  isPending,
  liveTrigger,
  type PaperOrder,
  type PaperPosition,
  type PaperTrigger,
  sum,
  type TokenBook,
  unrealisedProfit,
} from '#server/exchanges/paper/book.ts';
import { liquidationPrice } from '#server/exchanges/paper/matching.ts';
import { MAINTENANCE_MARGIN_RATE, MAKER_FEE, TAKER_FEE } from '#server/exchanges/paper/paper-contracts.ts';
import type { PastPosition, StoredFill } from '#server/exchanges/paper/paper-queries.ts';
import { decimalPlaces } from '../parameters.ts';
import type { VenueKey } from '../venue-credentials.ts';
import type { LedgerRow } from '../venue-ledger.ts';

/* Converts rows to Bitget's JSON: every number as text, fees negative, instants in milliseconds. */

const millis = (at: Date) => String(at.getTime());
const negative = (fee: Decimal) => toPlain(fee.negated());

const MOVEMENTS = {
  deposit: 'trans_from_exchange',
  withdrawal: 'trans_to_exchange',
  funding: 'contract_settle_fee',
};

/** A record of the ledger; the fee is not part of the amount. */
export const billView = ({ id, at, kind, token, fill, order, amount, fee, balance }: LedgerRow) => ({
  billId: String(id),
  symbol: token === null ? '' : `${token}USDT`,
  amount: toPlain(amount),
  fee: negative(fee),
  feeByCoupon: '',
  businessType:
    kind === 'fill' ? `${order?.source === 'liquidation' ? 'burst_' : ''}${fill?.side}` : MOVEMENTS[kind],
  coin: 'USDT',
  balance: toPlain(balance),
  cTime: millis(at),
});

export const keyView = (userId: string, { mayTrade, mayWithdraw, hidesAccount }: VenueKey) => ({
  userId: hidesAccount ? '' : userId,
  inviterId: '0',
  ips: '',
  authorities: [...(mayTrade ? ['coow', 'cpow'] : ['coor', 'cpor']), ...(mayWithdraw ? ['wwow'] : [])],
  parentId: 0,
  traderType: 'not_trader',
});

export function contractView(contract: Contract) {
  const [pricePlaces, volumePlaces] = [
    decimalPlaces(contract.tickSize),
    decimalPlaces(contract.quantityStep),
  ];
  return {
    symbol: contract.symbol,
    baseCoin: contract.token,
    quoteCoin: 'USDT',
    supportMarginCoins: ['USDT'],
    symbolType: 'perpetual',
    symbolStatus: 'normal',
    pricePlace: String(pricePlaces),
    priceEndStep: toPlain(D(contract.tickSize).times(D(10).pow(pricePlaces))),
    volumePlace: String(volumePlaces),
    sizeMultiplier: contract.quantityStep,
    minTradeNum: contract.minimumQuantity,
    minTradeUSDT: contract.minimumNotional,
    maxOrderQty: '',
    maxMarketOrderQty: '',
    minLever: '1',
    maxLever: String(contract.maximumLeverage),
    makerFeeRate: MAKER_FEE,
    takerFeeRate: TAKER_FEE,
    maintainTime: '',
    offTime: '-1',
    limitOpenTime: '-1',
  };
}

export function tickerView(symbol: string, price: string, now: Date) {
  return {
    symbol,
    lastPr: price,
    askPr: price,
    bidPr: price,
    bidSz: '0',
    askSz: '0',
    high24h: price,
    low24h: price,
    open24h: price,
    change24h: '0',
    baseVolume: '0',
    quoteVolume: '0',
    indexPrice: price,
    markPrice: price,
    ts: millis(now),
  };
}

export function balanceView(balances: AccountBalances) {
  const available = toPlain(balances.available);
  return {
    marginCoin: 'USDT',
    locked: toPlain(balances.locked),
    available,
    crossedMaxAvailable: available,
    isolatedMaxAvailable: available,
    maxTransferOut: available,
    accountEquity: toPlain(balances.equity),
    usdtEquity: toPlain(balances.equity),
    unrealizedPL: toPlain(balances.unrealisedProfit),
    isolatedMargin: toPlain(balances.margin),
    coupon: '0',
  };
}

export function tokenAccountView(account: AccountBook, book: TokenBook, balances: AccountBalances) {
  return {
    ...balanceView(balances),
    crossedMarginLeverage: String(book.leverage),
    isolatedLongLever: String(book.leverage),
    isolatedShortLever: String(book.leverage),
    marginMode: book.marginMode,
    posMode: account.positionMode,
  };
}

export function leverageView(book: TokenBook) {
  const leverage = String(book.leverage);
  return {
    symbol: `${book.token}USDT`,
    marginCoin: 'USDT',
    longLeverage: leverage,
    shortLeverage: leverage,
    crossMarginLeverage: leverage,
    marginMode: book.marginMode,
  };
}

/** As in `order/detail`; `orders-pending` calls the state `status`. */
export function orderView(token: string, order: PaperOrder) {
  const filled = order.filledSize.gt(0);
  return {
    symbol: `${token}USDT`,
    size: toPlain(order.size),
    orderId: String(order.id),
    clientOid: order.clientOrderId,
    baseVolume: toPlain(order.filledSize),
    quoteVolume: toPlain(order.filledValue),
    fee: negative(order.fee),
    price: order.price ? toPlain(order.price) : '',
    priceAvg: filled ? toPlain(order.filledValue.div(order.filledSize).toDecimalPlaces(12)) : '',
    state: order.state,
    side: order.side,
    force: 'gtc',
    totalProfits: toPlain(order.profit),
    posSide: 'net',
    marginCoin: 'USDT',
    presetStopLossPrice: order.presetStopLoss ? toPlain(order.presetStopLoss) : '',
    presetStopSurplusPrice: order.presetTakeProfit ? toPlain(order.presetTakeProfit) : '',
    orderType: order.type,
    leverage: String(order.leverage),
    marginMode: order.marginMode,
    reduceOnly: order.reduceOnly ? 'YES' : 'NO',
    enterPointSource: order.source === 'normal' ? 'API' : 'SYS',
    tradeSide: `${order.side}_single`,
    posMode: order.positionMode,
    orderSource: orderSourceOf(order),
    cTime: millis(order.createdAt),
    uTime: millis(order.updatedAt),
  };
}

const SOURCES: Record<PaperOrder['source'], string> = {
  normal: 'normal',
  pos_loss: 'pos_loss_market',
  pos_profit: 'pos_profit_market',
  liquidation: 'liquidation',
};

const orderSourceOf = ({ source, type }: PaperOrder) =>
  source === 'normal' && type === 'market' ? 'market' : SOURCES[source];

/** `orders-history` calls the state `status`, like `orders-pending`. */
export function pendingOrderView(token: string, order: PaperOrder) {
  const { state, ...rest } = orderView(token, order);
  return { ...rest, status: state };
}

export function positionView(book: TokenBook, position: PaperPosition, mark: Decimal | null) {
  const resting = book.orders.filter((order) => isPending(order) && order.reduceOnly);
  const locked = sum(resting.map((order) => order.size.minus(order.filledSize)));
  const [stopLoss, takeProfit] = [liveTrigger(book, 'pos_loss'), liveTrigger(book, 'pos_profit')];
  return {
    marginCoin: 'USDT',
    symbol: `${book.token}USDT`,
    holdSide: position.side,
    openDelegateSize: '0',
    marginSize: toPlain(position.margin),
    available: toPlain(position.size.minus(locked)),
    locked: toPlain(locked),
    total: toPlain(position.size),
    leverage: String(position.leverage),
    achievedProfits: toPlain(position.realisedProfit),
    openPriceAvg: toPlain(position.entryPrice),
    marginMode: position.marginMode,
    posMode: 'one_way_mode',
    unrealizedPL: mark ? toPlain(unrealisedProfit(position, mark)) : '0',
    liquidationPrice: toPlain(liquidationPrice(position).toDecimalPlaces(12)),
    keepMarginRate: MAINTENANCE_MARGIN_RATE,
    markPrice: toPlain(mark ?? position.entryPrice),
    marginRatio: '0',
    takeProfit: takeProfit ? toPlain(takeProfit.triggerPrice) : null,
    stopLoss: stopLoss ? toPlain(stopLoss.triggerPrice) : null,
    takeProfitId: takeProfit ? String(takeProfit.id) : null,
    stopLossId: stopLoss ? String(stopLoss.id) : null,
    cTime: millis(position.openedAt),
    uTime: millis(position.updatedAt),
  };
}

export function closedPositionView(position: PastPosition) {
  const { openFee, closeFee, profit } = position;
  const average = (value: Decimal, size: Decimal) => toPlain(value.div(size).toDecimalPlaces(12));
  return {
    positionId: String(position.id),
    symbol: `${position.token}USDT`,
    marginCoin: 'USDT',
    holdSide: position.side,
    openAvgPrice: average(position.openedValue, position.openedSize),
    closeAvgPrice: average(position.closedValue, position.closedSize),
    marginMode: 'isolated',
    openTotalPos: toPlain(position.openedSize),
    closeTotalPos: toPlain(position.closedSize),
    pnl: toPlain(profit),
    netProfit: toPlain(profit.minus(openFee).minus(closeFee)),
    totalFunding: '0',
    openFee: negative(openFee),
    closeFee: negative(closeFee),
    ctime: millis(position.openedAt),
    utime: millis(position.closedAt),
  };
}

const isSized = ({ planType }: PaperTrigger) => planType === 'loss_plan' || planType === 'profit_plan';

export function triggerView(book: TokenBook, trigger: PaperTrigger) {
  return {
    planType: trigger.planType,
    symbol: `${book.token}USDT`,
    size: toPlain(isSized(trigger) ? trigger.size : (book.position?.size ?? trigger.size)),
    orderId: String(trigger.id),
    clientOid: trigger.clientOrderId,
    price: '0',
    executePrice: '0',
    triggerPrice: toPlain(trigger.triggerPrice),
    triggerType: 'mark_price',
    planStatus: trigger.state,
    side: trigger.holdSide === 'long' ? 'sell' : 'buy',
    posSide: 'net',
    marginCoin: 'USDT',
    marginMode: 'isolated',
    enterPointSource: 'API',
    tradeSide: trigger.holdSide === 'long' ? 'sell_single' : 'buy_single',
    posMode: 'one_way_mode',
    orderType: 'market',
    cTime: millis(trigger.createdAt),
    uTime: millis(trigger.updatedAt),
  };
}

export function fillView(fill: StoredFill) {
  return {
    tradeId: String(fill.id),
    symbol: `${fill.token}USDT`,
    orderId: String(fill.orderId),
    price: toPlain(fill.price),
    baseVolume: toPlain(fill.size),
    quoteVolume: toPlain(fill.value),
    feeDetail: [{ deduction: 'no', feeCoin: 'USDT', totalDeductionFee: '0', totalFee: negative(fill.fee) }],
    side: fill.side,
    profit: toPlain(fill.profit),
    enterPointSource: 'API',
    tradeSide: `${fill.side}_single`,
    posMode: 'one_way_mode',
    tradeScope: fill.liquidity,
    cTime: millis(fill.createdAt),
  };
}
