import { D, isDecimal, isPositive, smallest, toPlain } from '#domain/decimal.ts';
import type {
  AccountBalance,
  ClosedPosition,
  ClosingOrder,
  OpenPosition,
  OrderReport,
  Protection,
  Ticker,
} from '../exchange.ts';
import { closingOrderAmong } from './closing-order.ts';
import type { AccountState } from './dialect.ts';
import { decimal, instant, type Json, list, priceOrNull, record, textOf } from './json.ts';
import type { ShownPreparation } from './prepared-accounts.ts';

/* Readers of Bitget's own JSON. */

/** An empty list of tickers leaves the client library with nothing to hand over. */
export function tickerOf(info: unknown, token: string): Ticker | null {
  if (info == null) return null;
  const ticker = record(info);
  const { lastPr, markPrice } = ticker;
  if (!isPositive(textOf(lastPr))) return null;
  const mark = isPositive(textOf(markPrice)) ? textOf(markPrice) : textOf(lastPr);
  return { token, lastPrice: toPlain(textOf(lastPr)), markPrice: toPlain(mark), at: instant(ticker, 'ts') };
}

/** `available` counts what isolated positions could not use; the smaller of the two is what an order can take. */
export function balanceOf(
  info: unknown,
): Pick<AccountBalance, 'futuresBalance' | 'futuresAvailable' | 'futuresLocked'> | null {
  const usdt = list(info).find((entry) => entry.marginCoin === 'USDT');
  if (!usdt) return null;
  const available = D(decimal(usdt, 'available'));
  const isolated = textOf(usdt.isolatedMaxAvailable);
  return {
    futuresBalance: decimal(usdt, 'accountEquity'),
    futuresAvailable: toPlain(isDecimal(isolated) ? smallest(available, isolated) : available),
    futuresLocked: decimal(usdt, 'locked'),
  };
}

export function spotBalanceOf(
  info: unknown,
): Pick<AccountBalance, 'spotBalance' | 'spotAvailable' | 'spotLocked'> {
  const usdt = list(info).find((entry) => entry.coin === 'USDT');
  if (!usdt) return { spotBalance: null, spotAvailable: null, spotLocked: null };
  const available = D(decimal(usdt, 'available'));
  const locked = D(decimal(usdt, 'frozen')).plus(decimal(usdt, 'locked'));
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
    // Two different ones are neither: no leverage that is asked for equals NaN.
    leverage: Number(long) === Number(short) ? Number(long) : Number.NaN,
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
  const orderId = textOf(order.orderId);
  if (orderId === '') throw new RangeError('The order that was answered has no id');
  const side = textOf(order.side);
  if (side !== 'buy' && side !== 'sell') throw new RangeError(`An order is bought or sold, not ${side}`);
  const filledQuantity = decimal(order, 'baseVolume');
  const state = STATES[textOf(order.state ?? order.status)] ?? 'unknown';
  return {
    orderId,
    clientOrderId: textOf(order.clientOid),
    token,
    side,
    state: state === 'open' && isPositive(filledQuantity) ? 'partially-filled' : state,
    price: priceOrNull(order.price),
    quantity: decimal(order, 'size'),
    filledQuantity,
    averagePrice: priceOrNull(order.priceAvg),
    fee: isDecimal(textOf(order.fee)) ? toPlain(D(textOf(order.fee)).negated()) : null,
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
  const symbol = textOf(position.symbol);
  const quantity = decimal(position, 'total');
  if (!symbol.endsWith('USDT') || !isPositive(quantity)) return null;
  const side = sideOfPosition(position);
  const opened = Number(position.cTime);
  return {
    token: symbol.slice(0, -'USDT'.length),
    side,
    quantity,
    entryPrice: decimal(position, 'openPriceAvg'),
    markPrice: priceOrNull(position.markPrice),
    leverage: Number(position.leverage),
    marginMode: position.marginMode === 'isolated' ? 'isolated' : 'crossed',
    margin: decimal(position, 'marginSize'),
    unrealisedProfit: decimal(position, 'unrealizedPL'),
    liquidationPrice: priceOrNull(position.liquidationPrice),
    openedAt: Number.isFinite(opened) && opened > 0 ? new Date(opened) : null,
  };
}

/**
 * Position-wide plans (`pos_*`) cover any size. Plans of a size of their own (`loss_plan`, `profit_plan`) count
 * only when together they cover the position: half a stop is none.
 */
export function protectionOf(infos: unknown[], position: OpenPosition): Protection {
  const plans = infos.map(record).filter((plan) => `${position.token}USDT` === plan.symbol);
  const covering = (whole: string, partial: string) => {
    const ofWhole = plans.find((plan) => plan.planType === whole);
    if (ofWhole) return priceOrNull(ofWhole.triggerPrice);
    const parts = plans.filter((plan) => plan.planType === partial);
    const covered = parts.reduce((total, plan) => total.plus(decimal(plan, 'size')), D(0));
    return covered.lt(position.quantity) ? null : priceOrNull(parts[0]?.triggerPrice);
  };
  return { stopLoss: covering('pos_loss', 'loss_plan'), takeProfit: covering('pos_profit', 'profit_plan') };
}

/** An empty history is answered as an empty list, or as none. */
export function closedPositionsIn(answer: unknown): unknown[] {
  const { list: positions } = record(record(answer).data);
  return positions === null || positions === undefined ? [] : list(positions);
}

/** Bitget's net profit is what is left after funding and fees; both are negative where they were paid. */
export function closedPositionOf(info: unknown): ClosedPosition | null {
  const position = record(info);
  const symbol = textOf(position.symbol);
  if (!symbol.endsWith('USDT')) return null;
  const side = sideOfPosition(position);
  const fees = D(decimal(position, 'openFee')).plus(decimal(position, 'closeFee')).negated();
  const openedAt = instant(position, position.ctime === undefined ? 'cTime' : 'ctime');
  return {
    positionId: textOf(position.positionId) || `${symbol}-${side}-${openedAt.getTime()}`,
    token: symbol.slice(0, -'USDT'.length),
    side,
    quantity: decimal(position, 'openTotalPos'),
    entryPrice: decimal(position, 'openAvgPrice'),
    closePrice: decimal(position, 'closeAvgPrice'),
    realisedProfit: toPlain(fees.plus(decimal(position, 'netProfit'))),
    fees: toPlain(fees),
    openedAt,
    closedAt: instant(position, position.utime === undefined ? 'uTime' : 'utime'),
  };
}

export function closingOrderOf(infos: unknown[], position: ClosedPosition): ClosingOrder | null {
  const orders = infos.map(record).map((order) => {
    const side = textOf(order.side);
    return {
      symbol: textOf(order.symbol),
      side: side === 'buy' || side === 'sell' ? (side as 'buy' | 'sell') : null,
      filledQuantity: textOf(order.baseVolume),
      at: instant(order, 'uTime'),
      canOnlyReduce: order.reduceOnly === 'YES',
      clientOrderId: textOf(order.clientOid),
      source: sourceOf(order),
    };
  });
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
    leverage: isPositive(textOf(leverage)) ? Number(textOf(leverage)) : null,
    isIsolated: textOf(marginMode) === '' ? null : textOf(marginMode) === 'isolated',
  };
}

export function orderIdOf(info: unknown): string {
  const orderId = textOf(record(info).orderId);
  if (orderId === '') throw new RangeError('The order that was answered has no id');
  return orderId;
}

function sideOfPosition(position: Json): 'long' | 'short' {
  const side = textOf(position.holdSide);
  if (side !== 'long' && side !== 'short') throw new RangeError(`A position is long or short, not ${side}`);
  return side;
}
