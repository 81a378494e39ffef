import { D, isDecimal, isPositive, smallest, toPlain } from '#domain/decimal.ts';
import type { AccountState, Market } from './ccxt-dialect.ts';
import type {
  AccountBalance,
  ClosedPosition,
  ClosingOrder,
  Contract,
  OpenPosition,
  OrderReport,
  Protection,
  Ticker,
} from './exchange.ts';

/* Readers of Bitget's own JSON. A field that must be there and is not throws, and the outcome counts as not known. */

type Json = Record<string, unknown>;

/** USDT-margined, one coin a contract, and called exactly as the token: a scaled or renamed one is not the token's. */
export function contractOf(market: Market, token: string): Contract | null {
  if (!market?.swap || !market.linear || market.active !== true || market.settle !== 'USDT') return null;
  if (market.id !== `${token}USDT` || market.baseId !== token || market.contractSize !== 1) return null;
  const { precision, limits } = market;
  return {
    token,
    symbol: `${token}USDT`,
    tickSize: numberText(precision.price, 'price step'),
    quantityStep: numberText(precision.amount, 'quantity step'),
    minimumQuantity: numberText(limits.amount?.min ?? precision.amount, 'minimum quantity'),
    minimumNotional: numberText(limits.cost?.min ?? 0, 'minimum notional'),
    maximumLeverage: Number(limits.leverage?.max ?? 1),
  };
}

export function tickerOf(info: unknown, token: string): Ticker | null {
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

/** Orders and positions are stamped by different parts of the exchange. */
const STAMP_SLACK_MS = 5_000;

/**
 * In one-way mode what filled on the other side while the position was open has reduced it; the one nearest to its end
 * ended it. An order that can only reduce comes first: the opposite position may have been opened a moment later.
 */
export function closingOrderOf(infos: unknown[], position: ClosedPosition): ClosingOrder | null {
  const opposite = infos
    .map(record)
    .filter((order) => order.symbol === `${position.token}USDT`)
    .filter((order) => textOf(order.side) === (position.side === 'long' ? 'sell' : 'buy'))
    .filter((order) => isPositive(textOf(order.baseVolume)))
    .map((order) => ({ order, at: instant(order, 'uTime').getTime() }))
    .filter(({ at }) => at >= position.openedAt.getTime() - STAMP_SLACK_MS)
    .filter(({ at }) => at <= position.closedAt.getTime() + STAMP_SLACK_MS);
  const reducing = opposite.filter(({ order }) => order.reduceOnly === 'YES');
  const apart = ({ at }: { at: number }) => Math.abs(at - position.closedAt.getTime());
  const [last] = (reducing.length > 0 ? reducing : opposite).sort((a, b) => apart(a) - apart(b));
  if (last === undefined) return null;
  return { clientOrderId: textOf(last.order.clientOid), source: sourceOf(last.order) };
}

function sourceOf(order: Json): ClosingOrder['source'] {
  const source = textOf(order.orderSource);
  if (source === 'liquidation' || /^burst/.test(textOf(order.tradeSide))) return 'liquidation';
  if (/loss/.test(source)) return 'stop loss';
  return /profit/.test(source) ? 'take profit' : 'order';
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

function record(value: unknown): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new RangeError('The exchange answered something else than an object');
  }
  return value as Json;
}

function list(value: unknown): Json[] {
  if (!Array.isArray(value)) throw new RangeError('The exchange answered something else than a list');
  return value.map(record);
}

const textOf = (value: unknown) =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

function decimal(from: Json, name: string): string {
  const text = textOf(from[name]);
  if (!isDecimal(text)) throw new RangeError(`The exchange answered no number as ${name}`);
  return toPlain(text);
}

function numberText(value: number | undefined, name: string): string {
  if (value === undefined || !Number.isFinite(value)) throw new RangeError(`The contract has no ${name}`);
  return toPlain(value);
}

function priceOrNull(value: unknown): string | null {
  const text = textOf(value);
  return isPositive(text) ? toPlain(text) : null;
}

function instant(from: Json, name: string): Date {
  const ms = Number(from[name]);
  if (!Number.isFinite(ms) || ms <= 0) throw new RangeError(`The exchange answered no time as ${name}`);
  return new Date(ms);
}
