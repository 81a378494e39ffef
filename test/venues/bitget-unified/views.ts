import { D, type Decimal, toPlain } from '#domain/decimal.ts';
import {
  type AccountBalances,
  type AccountBook,
  isPending,
  type PaperOrder,
  type PaperPosition,
  sum,
  type TokenBook,
  unrealisedProfit,
} from '#server/exchanges/paper/book.ts';
import { liquidationPrice } from '#server/exchanges/paper/matching.ts';
import { MAINTENANCE_MARGIN_RATE } from '#server/exchanges/paper/paper-contracts.ts';
import type { PastPosition } from '#server/exchanges/paper/paper-queries.ts';
import type { VenueKey } from '../venue-credentials.ts';
import type { LedgerRow } from '../venue-ledger.ts';
import type { VenueStrategies } from './strategies.ts';

/* Converts rows to Bitget's v3 JSON: every number as text, instants in milliseconds. */

const CATEGORY = 'USDT-FUTURES';
const millis = (at: Date) => String(at.getTime());
const average = (value: Decimal, size: Decimal) => toPlain(value.div(size).toDecimalPlaces(12));

/** A financial record. Types of funding name the direction; the fee is not part of the amount. */
export function financialRecordView({ id, at, kind, token, fill, order, amount, fee, balance }: LedgerRow) {
  const direction = amount.lt(0) ? 'OUT' : 'IN';
  const side = fill?.side.toUpperCase() ?? '';
  const types = {
    fill: order?.source === 'liquidation' ? `BURST_${side}_SSM` : `${side}_DEAL`,
    funding: `CONTRACT_MAIN_SETTLE_FEE_USER_${direction}`,
    deposit: 'TRANSFER_IN',
    withdrawal: 'TRANSFER_OUT',
  };
  return {
    category: token === null ? 'OTHER' : CATEGORY,
    id: String(id),
    symbol: token === null ? '' : `${token}USDT`,
    coin: 'USDT',
    type: types[kind],
    positionType: token === null ? '' : 'isolated',
    positionAmount: '0',
    positionBalance: '0',
    // Without a sign where the type has one.
    amount: toPlain(kind === 'fill' ? amount : amount.abs()),
    fee: toPlain(fee.negated()),
    balance: toPlain(balance),
    ts: millis(at),
  };
}

export const infoView = (userId: string, { mayTrade, mayWithdraw, hidesAccount }: VenueKey) => ({
  userId: hidesAccount ? '' : userId,
  inviterId: '0',
  parentId: '',
  channelCode: '',
  channel: '',
  ips: '',
  permType: mayTrade ? 'read-and-write' : 'read-only',
  permissions: ['uta_mgt', 'uta_trade', ...(mayWithdraw ? ['withdraw'] : [])],
  regisTime: '1704067200000',
});

export function settingsView(userId: string, account: AccountBook, { accountLevel = 'isolated' }: VenueKey) {
  return {
    uid: userId,
    accountMode: 'unified',
    assetMode: 'multi_assets',
    accountLevel,
    holdMode: account.positionMode,
    stpMode: 'none',
    symbolConfigList: [...account.tokens.values()].map(({ token, leverage }) => ({
      category: CATEGORY,
      symbol: `${token}USDT`,
      marginMode: accountLevel === 'isolated' ? 'isolated' : 'crossed',
      leverage: String(leverage),
    })),
    coinConfigList: [],
  };
}

/** Coins without a balance are left out. */
export function assetsView({ available, locked, equity, unrealisedProfit: unrealised }: AccountBalances) {
  const usdt = {
    coin: 'USDT',
    equity: toPlain(equity),
    usdValue: toPlain(equity),
    balance: toPlain(equity.minus(unrealised)),
    available: toPlain(available),
    debt: '0',
    locked: toPlain(locked),
  };
  return {
    accountEquity: toPlain(equity),
    usdtEquity: toPlain(equity),
    btcEquity: '0',
    unrealisedPnl: toPlain(unrealised),
    usdtUnrealisedPnl: toPlain(unrealised),
    btcUnrealizedPnl: '0',
    effEquity: toPlain(equity),
    mmr: '0',
    imr: '0',
    mgnRatio: '0',
    positionMgnRatio: '0',
    assets: equity.isZero() ? [] : [usdt],
  };
}

export function orderView(token: string, order: PaperOrder, { byMarket }: VenueStrategies) {
  const filled = order.filledSize.gt(0);
  const triggerBy = byMarket.has(order.clientOrderId) ? 'market' : 'mark';
  return {
    orderId: String(order.id),
    clientOid: order.clientOrderId,
    category: CATEGORY,
    symbol: `${token}USDT`,
    orderType: order.type,
    side: order.side,
    price: order.price ? toPlain(order.price) : '0',
    qty: toPlain(order.size),
    amount: '0',
    cumExecQty: toPlain(order.filledSize),
    cumExecValue: toPlain(order.filledValue),
    avgPrice: filled ? average(order.filledValue, order.filledSize) : '0',
    timeInForce: 'gtc',
    orderStatus: order.state === 'canceled' ? 'cancelled' : order.state,
    posSide: order.side === 'buy' ? 'long' : 'short',
    tradeSide: order.reduceOnly ? 'close' : 'open',
    holdMode: order.positionMode,
    reduceOnly: order.reduceOnly ? 'YES' : 'NO',
    marginMode: order.marginMode,
    feeDetail: [filled ? { feeCoin: 'USDT', fee: toPlain(order.fee) } : { feeCoin: '', fee: '' }],
    createdTime: millis(order.createdAt),
    updatedTime: millis(order.updatedAt),
    cancelReason: '',
    delegateType: 'normal',
    execType: order.source === 'liquidation' ? 'liquidation' : 'normal',
    stpMode: 'none',
    tpTriggerBy: order.presetTakeProfit ? triggerBy : '',
    slTriggerBy: order.presetStopLoss ? triggerBy : '',
    takeProfit: order.presetTakeProfit ? toPlain(order.presetTakeProfit) : '',
    stopLoss: order.presetStopLoss ? toPlain(order.presetStopLoss) : '',
    tpOrderType: order.presetTakeProfit ? 'market' : '',
    slOrderType: order.presetStopLoss ? 'market' : '',
    tpLimitPrice: '',
    slLimitPrice: '',
  };
}

export function positionView(book: TokenBook, position: PaperPosition, mark: Decimal | null) {
  const resting = book.orders.filter((order) => isPending(order) && order.reduceOnly);
  const frozen = sum(resting.map((order) => order.size.minus(order.filledSize)));
  return {
    category: CATEGORY,
    symbol: `${book.token}USDT`,
    marginCoin: 'USDT',
    holdMode: 'one_way_mode',
    posSide: position.side,
    marginMode: position.marginMode,
    positionBalance: toPlain(position.margin),
    available: toPlain(position.size.minus(frozen)),
    frozen: toPlain(frozen),
    total: toPlain(position.size),
    leverage: String(position.leverage),
    curRealisedPnl: toPlain(position.realisedProfit),
    avgPrice: toPlain(position.entryPrice),
    positionStatus: 'normal',
    unrealisedPnl: mark ? toPlain(unrealisedProfit(position, mark)) : '0',
    liquidationPrice: toPlain(liquidationPrice(position).toDecimalPlaces(12)),
    mmr: MAINTENANCE_MARGIN_RATE,
    profitRate: '0',
    markPrice: toPlain(mark ?? position.entryPrice),
    breakEvenPrice: toPlain(position.entryPrice),
    totalFunding: '0',
    openFeeTotal: '0',
    closeFeeTotal: '0',
    createdTime: millis(position.openedAt),
    updatedTime: millis(position.updatedAt),
  };
}

export function closedPositionView(position: PastPosition) {
  const { openFee, closeFee, profit } = position;
  return {
    positionId: String(position.id),
    category: CATEGORY,
    symbol: `${position.token}USDT`,
    marginCoin: 'USDT',
    holdMode: 'one_way_mode',
    posSide: position.side,
    marginMode: 'isolated',
    openPriceAvg: average(position.openedValue, position.openedSize),
    closePriceAvg: average(position.closedValue, position.closedSize),
    openTotalPos: toPlain(position.openedSize),
    closeTotalPos: toPlain(position.closedSize),
    cumRealisedPnl: toPlain(profit),
    netProfit: toPlain(profit.minus(openFee).minus(closeFee)),
    totalFunding: '0',
    openFeeTotal: toPlain(D(openFee).negated()),
    closeFeeTotal: toPlain(D(closeFee).negated()),
    createdTime: millis(position.openedAt),
    updatedTime: millis(position.closedAt),
  };
}
