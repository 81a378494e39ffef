import { D, isDecimal, isPositive, smallest, toPlain } from '#domain/decimal.ts';
import type {
  AccountBalance,
  ClosedPosition,
  ClosingOrder,
  KeyInspection,
  OpenPosition,
  OrderReport,
  Protection,
  Ticker,
} from '../exchange.ts';
import type { AccountState, FuturesBalance, LargestOrders, ProtectionPlan } from './dialect.ts';
import type { ShownPreparation } from './prepared-accounts.ts';
import {
  closingOrderAmong,
  decimal,
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
  tokenOf,
  unreadable,
  usdtBalance,
  volume,
} from './readers.ts';

/** Bitget restricts opening first, then trading, and names both times in advance; -1 means never. */
export const entryProblemOf = (info: unknown): string | null =>
  entryProblemFrom(record(info), {
    status: 'symbolStatus',
    open: 'normal',
    words: {
      listed: 'it does not trade yet',
      maintain: 'it is under maintenance',
      limit_open: 'it only closes positions',
      restrictedAPI: 'it does not trade through the API',
      off: 'it is delisted',
    },
    ends: ['limitOpenTime', 'offTime'],
    notCoin: notCoinOf(record(info)),
  });

/** `isRwa` is YES for stocks, currencies and commodities; older lists do not have it. */
function notCoinOf({ isRwa }: Json): string | null {
  const said = isRwa === undefined || isRwa === null ? '' : String(isRwa);
  return /^(no|false)?$/i.test(said) ? null : `isRwa ${said}`;
}

export function largestOrdersOf(info: unknown): LargestOrders {
  const { maxOrderQty, maxMarketOrderQty } = record(info);
  return largestOrdersFrom(maxOrderQty, maxMarketOrderQty);
}

/** The client library returns no info when Bitget's list of tickers is empty. */
export function tickerOf(info: unknown, token: string): Ticker | null {
  if (info == null) return null;
  const ticker = record(info);
  return tickerFrom(token, ticker.lastPr, ticker.markPrice, () => instant(ticker, 'ts'));
}

/** `available` includes funds that isolated positions cannot use; an order can take the smaller of the two amounts. */
export function balanceOf(info: unknown): FuturesBalance | null {
  const usdt = list(info).find((entry) => entry.marginCoin === 'USDT');
  if (!usdt) return null;
  const available = D(usdtBalance(usdt, 'available'));
  const isolated = numberTextOf(usdt.isolatedMaxAvailable);
  return {
    futuresBalance: usdtBalance(usdt, 'accountEquity'),
    futuresAvailable: toPlain(isDecimal(isolated) ? smallest(available, isolated) : available),
    futuresLocked: usdtBalance(usdt, 'locked'),
  };
}

export function spotBalanceOf(
  info: unknown,
): Pick<AccountBalance, 'spotBalance' | 'spotAvailable' | 'spotLocked'> {
  const usdt = list(info).find((entry) => entry.coin === 'USDT');
  if (!usdt) return { spotBalance: null, spotAvailable: null, spotLocked: null };
  const available = D(usdtBalance(usdt, 'available'));
  const locked = D(usdtBalance(usdt, 'frozen')).plus(usdtBalance(usdt, 'locked'));
  return {
    spotBalance: toPlain(available.plus(locked)),
    spotAvailable: toPlain(available),
    spotLocked: toPlain(locked),
  };
}

export function accountStateOf(info: unknown): AccountState {
  const account = record(info);
  const marginMode = textOf(account.marginMode);
  const [long, short] =
    marginMode === 'isolated'
      ? [account.isolatedLongLever, account.isolatedShortLever]
      : [account.crossedMarginLeverage, account.crossedMarginLeverage];
  return {
    leverage: onlyLeverage([Number(numberTextOf(long)), Number(numberTextOf(short))]),
    marginMode,
    positionMode: textOf(account.posMode),
  };
}

const STATES: Record<string, OrderReport['state']> = {
  init: 'open',
  new: 'open',
  live: 'open',
  partially_filled: 'partially-filled',
  filled: 'filled',
  canceled: 'cancelled',
  cancelled: 'cancelled',
};

export function orderOf(info: unknown, token: string): OrderReport {
  const order = record(info);
  requireSymbol(order, token);
  const side = sideOf(order);
  if (side === null) throw unreadable(`An order is bought or sold, not ${textOf(order.side)}`);
  const filledQuantity = volume(order, 'baseVolume');
  return {
    orderId: orderIdOf(info),
    clientOrderId: textOf(order.clientOid),
    token,
    side,
    state: stateOf(STATES, order.state ?? order.status, filledQuantity),
    price: priceOrNull(order.price),
    quantity: volume(order, 'size'),
    filledQuantity,
    averagePrice: priceOrNull(order.priceAvg),
    fee: isDecimal(numberTextOf(order.fee)) ? toPlain(D(numberTextOf(order.fee)).negated()) : null,
    stopLoss: priceOrNull(order.presetStopLossPrice),
    takeProfit: priceOrNull(order.presetStopSurplusPrice),
    updatedAt: instant(order, 'uTime'),
    raw: info,
  };
}

export function isEntry(info: unknown): boolean {
  const order = record(info);
  return order.reduceOnly !== 'YES' && !/close/i.test(textOf(order.tradeSide));
}

export function positionOf(info: unknown): OpenPosition | null {
  const position = record(info);
  const token = heldTokenOf(position);
  if (token === null) return null;
  const quantity = volume(position, 'total');
  if (!isPositive(quantity)) return null;
  return {
    token,
    side: sideOfPosition(position),
    quantity,
    entryPrice: decimal(position, 'openPriceAvg'),
    markPrice: priceOrNull(position.markPrice),
    leverage: Number(numberTextOf(position.leverage)),
    marginMode: position.marginMode === 'isolated' ? 'isolated' : 'crossed',
    margin: decimal(position, 'marginSize'),
    unrealisedProfit: decimal(position, 'unrealizedPL'),
    liquidationPrice: priceOrNull(position.liquidationPrice),
    openedAt: instantOrNull(position.cTime),
  };
}

/**
 * Position-wide plans (`pos_*`) cover any size. Plans with their own size (`loss_plan`, `profit_plan`) count only if
 * together they cover the whole position: half a stop is no stop. What the last part needs is the price for all of it.
 */
export function protectionOf(infos: unknown[], position: OpenPosition): Protection {
  const other = position.side === 'long' ? 'short' : 'long';
  const plans = infos
    .map(record)
    // One-way positions are `net`: a plan of a named side protects that side only.
    .filter(({ symbol, posSide }) => `${position.token}USDT` === symbol && posSide !== other);
  const covering = (whole: string, partial: string) => {
    const ofWhole = plans.find((plan) => plan.planType === whole);
    if (ofWhole) return priceOrNull(ofWhole.triggerPrice);
    const isLowFirst = (position.side === 'short') === (partial === 'loss_plan');
    const parts = plans
      .filter((plan) => plan.planType === partial)
      .map((plan) => ({ price: D(decimal(plan, 'triggerPrice')), size: decimal(plan, 'size') }))
      .sort((one, other) => one.price.cmp(other.price) * (isLowFirst ? 1 : -1));
    let covered = D(0);
    for (const { price, size } of parts) {
      covered = covered.plus(size);
      if (covered.gte(position.quantity)) return priceOrNull(toPlain(price));
    }
    return null;
  };
  return { stopLoss: covering('pos_loss', 'loss_plan'), takeProfit: covering('pos_profit', 'profit_plan') };
}

const PLANS: Record<string, { side: ProtectionPlan['side']; isSized: boolean }> = {
  pos_loss: { side: 'stopLoss', isSized: false },
  loss_plan: { side: 'stopLoss', isSized: true },
  pos_profit: { side: 'takeProfit', isSized: false },
  profit_plan: { side: 'takeProfit', isSized: true },
};

export function planOf(info: unknown): ProtectionPlan | null {
  const plan = record(info);
  const kind = PLANS[textOf(plan.planType)];
  if (kind === undefined) return null;
  return {
    id: orderIdOf(info),
    clientOrderId: textOf(plan.clientOid),
    side: kind.side,
    triggerPrice: priceOrNull(plan.triggerPrice),
    quantity: kind.isSized ? decimal(plan, 'size') : null,
  };
}

/** A stop or target of the whole position; one with a size of its own shows only among the plans. */
export function protectionShownBy(info: unknown): Protection {
  const { stopLoss, takeProfit } = record(info);
  return { stopLoss: priceOrNull(stopLoss), takeProfit: priceOrNull(takeProfit) };
}

/** Bitget answers an empty history with an empty list or with none. */
export function closedPositionsIn(answer: unknown): unknown[] {
  const { list: positions } = record(record(answer).data);
  return positions === null || positions === undefined ? [] : list(positions);
}

/** Bitget's net profit is net of funding and fees; both are negative where the account paid. */
export function closedPositionOf(info: unknown): ClosedPosition | null {
  const position = record(info);
  const token = tokenOf(position);
  if (token === null) return null;
  const side = sideOfPosition(position);
  const fees = D(decimal(position, 'openFee')).plus(decimal(position, 'closeFee')).negated();
  const funding = numberTextOf(position.totalFunding);
  const openedAt = instant(position, position.ctime === undefined ? 'cTime' : 'ctime');
  return {
    positionId: textOf(position.positionId) || `${token}USDT-${side}-${openedAt.getTime()}`,
    token,
    side,
    quantity: decimal(position, 'openTotalPos'),
    entryPrice: decimal(position, 'openAvgPrice'),
    closePrice: decimal(position, 'closeAvgPrice'),
    realisedProfit: toPlain(fees.plus(decimal(position, 'netProfit'))),
    fees: toPlain(fees),
    funding: isDecimal(funding) ? toPlain(funding) : null,
    openedAt,
    closedAt: instant(position, position.utime === undefined ? 'uTime' : 'utime'),
  };
}

export function closingOrderOf(infos: unknown[], position: ClosedPosition): ClosingOrder | null {
  const orders = infos.map(record).map((order) => ({
    symbol: textOf(order.symbol),
    side: sideOf(order),
    filledQuantity: numberTextOf(order.baseVolume),
    at: instant(order, 'uTime'),
    canOnlyReduce: order.reduceOnly === 'YES',
    clientOrderId: textOf(order.clientOid),
    source: sourceOf(order),
  }));
  return closingOrderAmong(orders, position);
}

function sourceOf(order: Json): ClosingOrder['source'] {
  const source = textOf(order.orderSource);
  if (source === 'liquidation' || /^burst/.test(textOf(order.tradeSide))) return 'liquidation';
  if (/loss/.test(source)) return 'stop loss';
  return /profit/.test(source) ? 'take profit' : 'order';
}

export function shownByOrder(info: unknown): ShownPreparation | null {
  const { leverage, marginMode } = record(info);
  return {
    leverage: isPositive(numberTextOf(leverage)) ? Number(numberTextOf(leverage)) : null,
    isIsolated: textOf(marginMode) === '' ? null : textOf(marginMode) === 'isolated',
  };
}

/*
 * Permissions as listed in Bitget's documentation of GET /api/v2/spot/account/info. The example there shows the older
 * names `trade` and `readonly`; neither was seen live. An unknown permission neither allows trading nor rejects the
 * key, unless its name mentions withdrawing.
 */
const ORDERS = ['coow', 'trade'];
const POSITIONS = ['cpow', 'cpor', 'trade'];
const WITHDRAWAL = ['wwow'];

/** Reads the account information; only classic accounts have this endpoint. */
export function keyInspectionOf(answer: unknown): KeyInspection {
  const { data } = Object(answer) as { data?: unknown };
  const { userId, authorities } = Object(data) as { userId?: unknown; authorities?: unknown };
  if (!Array.isArray(authorities)) throw new RangeError('The exchange answered no list of permissions');
  const granted = authorities.map((one) => String(one).trim().toLowerCase());
  const grants = (names: readonly string[]) => granted.some((one) => names.includes(one));
  return {
    accountMode: 'classic',
    mayTrade: grants(ORDERS) && grants(POSITIONS),
    mayWithdraw: grants(WITHDRAWAL) || granted.some((one) => one.includes('withdraw')),
    accountId: textOf(userId) || null,
  };
}

const sideOf = ({ side }: Json): 'buy' | 'sell' | null => (side === 'buy' || side === 'sell' ? side : null);

function sideOfPosition(position: Json): 'long' | 'short' {
  const side = textOf(position.holdSide);
  if (side !== 'long' && side !== 'short') throw unreadable(`A position is long or short, not ${side}`);
  return side;
}
