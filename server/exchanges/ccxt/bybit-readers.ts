import { D, isDecimal, isPositive, smallest, toPlain } from '#domain/decimal.ts';
import type {
  ClosedPosition,
  ClosingOrder,
  KeyInspection,
  OpenPosition,
  OrderReport,
  Protection,
  Ticker,
} from '../exchange.ts';
import type { FuturesBalance, LargestOrders } from './dialect.ts';
import {
  closingOrderAmong,
  decimal,
  decimalOrZero,
  entryProblemFrom,
  heldTokenOf,
  instant,
  instantOrNull,
  type Json,
  largestOrdersFrom,
  list,
  numberTextOf,
  onlyLeverage,
  orderIdOf,
  priceOrNull,
  record,
  requireSymbol,
  stateOf,
  textOf,
  tickerFrom,
  unreadable,
  usdtBalance,
  volume,
} from './readers.ts';

export const resultIn = (answer: unknown): Json => record(record(answer).result);

/** A delivery time of a perpetual is the time of its delisting. */
export const entryProblemOf = (info: unknown): string | null =>
  entryProblemFrom(record(info), {
    status: 'status',
    open: 'Trading',
    words: {
      PreLaunch: 'it does not trade yet',
      Settling: 'it is being settled',
      Delivering: 'it is being delivered',
      Closed: 'it is delisted',
    },
    ends: ['deliveryTime'],
    notCoin: notCoinOf(textOf(record(info).symbolType)),
  });

/** Bybit's kinds of contracts on coins. Others, such as stock, forex and commodity, are not traded. */
const COINS = new Set(['', 'innovation', 'adventure']);
const notCoinOf = (symbolType: string): string | null => (COINS.has(symbolType) ? null : symbolType);

export function largestOrdersOf(info: unknown): LargestOrders {
  const { maxOrderQty, maxMktOrderQty } = record(record(info).lotSizeFilter ?? {});
  return largestOrdersFrom(maxOrderQty, maxMktOrderQty);
}

export const tickerOf = (answer: unknown, token: string): Ticker | null => tickersIn(answer)(token);

/** Finds tokens among an answer's tickers. The time is that of the answer: Bybit's tickers have none of their own. */
export function tickersIn(answer: unknown): (token: string) => Ticker | null {
  const bySymbol = new Map(list(resultIn(answer).list).map((ticker) => [ticker.symbol, ticker]));
  return (token) => {
    const ticker = bySymbol.get(`${token}USDT`);
    return tickerFrom(token, ticker?.lastPrice, ticker?.markPrice, () => instant(record(answer), 'time'));
  };
}

/**
 * The amount that isolated positions can still use, by Bybit's own formula: account-wide figures are meaningless in
 * isolated margin. In portfolio margin a coin has no margin figures of its own, so use the account's figure.
 */
export function balanceOf(answer: unknown): FuturesBalance | null {
  const [account] = list(resultIn(answer).list);
  const usdt = list(record(account).coin).find(({ coin }) => coin === 'USDT');
  if (!usdt) return null;
  const wallet = D(usdtBalance(usdt, 'walletBalance'));
  const locked = D(decimalOrZero(usdt, 'locked', usdtBalance));
  const isPortfolio = usdt.totalOrderIM === '' || usdt.totalPositionIM === '';
  const available = isPortfolio
    ? smallest(wallet, usdtBalance(record(account), 'totalAvailableBalance'))
    : wallet
        .minus(usdtBalance(usdt, 'totalPositionIM'))
        .minus(usdtBalance(usdt, 'totalOrderIM'))
        .minus(locked)
        .minus(decimalOrZero(usdt, 'bonus', usdtBalance));
  return {
    futuresBalance: usdtBalance(usdt, 'equity'),
    futuresAvailable: toPlain(available.lt(0) ? 0 : available),
    futuresLocked: toPlain(locked.plus(decimalOrZero(usdt, 'totalOrderIM', usdtBalance))),
  };
}

/** In one-way mode a contract has one position with index 0, open or not; in hedge mode it has two. */
export function positionStateOf(answer: unknown) {
  const positions = list(resultIn(answer).list);
  const isOneWay = positions.length === 1 && textOf(positions[0]?.positionIdx) === '0';
  return {
    positions,
    leverage: onlyLeverage(positions.map(({ leverage }) => Number(numberTextOf(leverage) || Number.NaN))),
    positionMode: isOneWay ? 'one-way' : 'hedged',
  };
}

const STATES: Record<string, OrderReport['state']> = {
  Created: 'open',
  New: 'open',
  Untriggered: 'open',
  Triggered: 'open',
  PartiallyFilled: 'partially-filled',
  Filled: 'filled',
  Cancelled: 'cancelled',
  PartiallyFilledCanceled: 'cancelled',
  // Bybit accepts orders first and matches them later: an order that the matching engine rejects has ended without a
  // fill.
  Rejected: 'cancelled',
  Deactivated: 'cancelled',
};

export function orderOf(info: unknown, token: string): OrderReport {
  const order = record(info);
  requireSymbol(order, token);
  const side = sideOf(order);
  if (side === null) throw unreadable(`An order is bought or sold, not ${textOf(order.side)}`);
  const filledQuantity = volume(order, 'cumExecQty');
  return {
    orderId: orderIdOf(info),
    clientOrderId: textOf(order.orderLinkId),
    token,
    side,
    state: stateOf(STATES, order.orderStatus, filledQuantity),
    // Bybit shows a market order with a limit price that it derived itself.
    price: order.orderType === 'Market' ? null : priceOrNull(order.price),
    quantity: volume(order, 'qty'),
    filledQuantity,
    averagePrice: priceOrNull(order.avgPrice),
    fee: feeOf(order),
    stopLoss: priceOrNull(order.stopLoss),
    takeProfit: priceOrNull(order.takeProfit),
    updatedAt: instant(order, 'updatedTime'),
    raw: info,
  };
}

/**
 * Bybit reports fees per coin, because a fee can be paid in another coin than USDT; the fee in USDT is then unknown.
 */
function feeOf(order: Json): string | null {
  const { cumFeeDetail } = order;
  const detail = cumFeeDetail === undefined || cumFeeDetail === null ? {} : record(cumFeeDetail);
  const coins = Object.keys(detail);
  if (coins.length === 0)
    return isDecimal(numberTextOf(order.cumExecFee)) ? toPlain(numberTextOf(order.cumExecFee)) : null;
  return coins.every((coin) => coin === 'USDT') ? decimal(detail, 'USDT') : null;
}

/** Excludes reduce-only orders and orders that wait for a trigger. */
export function isEntry(info: unknown): boolean {
  const order = record(info);
  return order.reduceOnly !== true && order.closeOnTrigger !== true && isPlain(textOf(order.stopOrderType));
}

const isPlain = (stopOrderType: string) => stopOrderType === '' || stopOrderType === 'UNKNOWN';

/**
 * A position's stop and target are conditional orders too; the user's own conditional orders are excluded. A row that
 * cannot be read may be one.
 */
export const isProtection = (info: unknown): boolean =>
  info === null ||
  typeof info !== 'object' ||
  /^(Partial)?(StopLoss|TakeProfit)$/.test(textOf((info as Json).stopOrderType));

export function positionOf(info: unknown): OpenPosition | null {
  const position = record(info);
  const quantity = volume(position, 'size');
  if (!isPositive(quantity)) return null;
  const token = heldTokenOf(position);
  const side = sideOf(position);
  if (side === null) throw unreadable(`A position is bought or sold, not ${textOf(position.side)}`);
  return {
    token,
    side: side === 'buy' ? 'long' : 'short',
    quantity,
    entryPrice: decimal(position, 'avgPrice'),
    markPrice: priceOrNull(position.markPrice),
    leverage: Number(numberTextOf(position.leverage)),
    // Bybit sets the margin mode per account and does not report it per position.
    marginMode: null,
    margin: decimalOrZero(position, 'positionIM'),
    unrealisedProfit: decimalOrZero(position, 'unrealisedPnl'),
    liquidationPrice: priceOrNull(position.liqPrice),
    // `createdTime` is when the contract was first traded, not when this position was opened.
    openedAt: instantOrNull(position.openTime),
  };
}

/** Empty or zero means no stop. A missing field is an unreadable answer, not a missing stop. */
export function protectionOf(info: unknown): Protection {
  const position = record(info);
  const told = (name: 'stopLoss' | 'takeProfit') => {
    const text = numberTextOf(position[name]);
    if (position[name] === '') return null;
    if (!isDecimal(text)) throw unreadable(`The exchange answered no price as ${name}`);
    return priceOrNull(text);
  };
  return { stopLoss: told('stopLoss'), takeProfit: told('takeProfit') };
}

export function closingOrderOf(infos: unknown[], position: ClosedPosition): ClosingOrder | null {
  const orders = infos.map(record).map((order) => ({
    symbol: textOf(order.symbol),
    side: sideOf(order),
    filledQuantity: numberTextOf(order.cumExecQty),
    at: instant(order, 'updatedTime'),
    canOnlyReduce: order.reduceOnly === true || order.closeOnTrigger === true,
    clientOrderId: textOf(order.orderLinkId),
    source: sourceOf(order),
  }));
  return closingOrderAmong(orders, position);
}

function sourceOf(order: Json): ClosingOrder['source'] {
  const [created, stop] = [textOf(order.createType), textOf(order.stopOrderType)];
  if (/^CreateBy(Liq|TakeOver|Adl)/.test(created)) return 'liquidation';
  if (/StopLoss|TrailingStop/.test(created) || /StopLoss|TrailingStop/.test(stop)) return 'stop loss';
  return /TakeProfit/.test(created) || /TakeProfit/.test(stop) ? 'take profit' : 'order';
}

/** Trading needs both contract permissions; a read-only key can have them too. */
export function keyInspectionOf(answer: unknown): KeyInspection {
  const key = resultIn(answer);
  const permissions = record(key.permissions);
  const granted = (group: string) => {
    const names = permissions[group] ?? [];
    if (!Array.isArray(names)) throw unreadable(`The exchange answered no permissions as ${group}`);
    return names.map(textOf);
  };
  const [uta, readOnly] = [textOf(key.uta), textOf(key.readOnly)];
  if (!/^[01]$/.test(uta)) throw unreadable('The exchange does not say what kind of account this is');
  if (!Array.isArray(permissions.Wallet)) throw unreadable('The exchange does not say who may withdraw');
  const contract = granted('ContractTrade');
  const userId = textOf(key.userID);
  return {
    accountMode: uta === '1' ? 'unified' : 'classic',
    mayTrade: readOnly === '0' && contract.includes('Order') && contract.includes('Position'),
    mayWithdraw: Object.keys(permissions).some((group) =>
      granted(group).some((name) => /withdraw/i.test(name)),
    ),
    accountId: userId === '' || userId === '0' ? null : userId,
    ...keyEndOf(key),
  };
}

/** A key without an end has none, or a date long gone; the end only warns, so anything unreadable counts as none. */
function keyEndOf({ expiredAt }: Json): { expiresAt?: Date } {
  const end = new Date(textOf(expiredAt));
  return end.getTime() > 0 ? { expiresAt: end } : {};
}

function sideOf({ side }: Json): 'buy' | 'sell' | null {
  if (side === 'Buy') return 'buy';
  return side === 'Sell' ? 'sell' : null;
}
