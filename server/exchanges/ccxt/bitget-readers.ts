import { D, isDecimal, isPositive, smallest, toPlain } from '#domain/decimal.ts';
import {
  type AccountBalance,
  asExchangeError,
  type ClosedPosition,
  type ClosingOrder,
  type KeyInspection,
  type OpenPosition,
  type OrderReport,
  type Protection,
  type Ticker,
} from '../exchange.ts';
import type { AccountState, FuturesBalance, LargestOrders, PositionSize, ProtectionPlan } from './dialect.ts';
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
  rows,
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

/** The names of an order's fields, which differ between the kinds of account. */
export interface OrderFields {
  state: (order: Json) => unknown;
  quantity: string;
  filledQuantity: string;
  averagePrice: string;
  stopLoss: string;
  takeProfit: string;
  updatedAt: string;
  /** Positive where paid; null where it is not known. */
  fee: (order: Json) => string | null;
}

const CLASSIC_ORDER: OrderFields = {
  state: ({ state, status }) => state ?? status,
  quantity: 'size',
  filledQuantity: 'baseVolume',
  averagePrice: 'priceAvg',
  stopLoss: 'presetStopLossPrice',
  takeProfit: 'presetStopSurplusPrice',
  updatedAt: 'uTime',
  fee: ({ fee }) => (isDecimal(numberTextOf(fee)) ? toPlain(D(numberTextOf(fee)).negated()) : null),
};

export const orderOf = (info: unknown, token: string): OrderReport => orderIn(info, token, CLASSIC_ORDER);

export function orderIn(info: unknown, token: string, fields: OrderFields): OrderReport {
  const order = record(info);
  requireSymbol(order, token);
  const side = sideOf(order);
  if (side === null) throw unreadable(`An order is bought or sold, not ${textOf(order.side)}`);
  const filledQuantity = volume(order, fields.filledQuantity);
  return {
    orderId: orderIdOf(info),
    clientOrderId: textOf(order.clientOid),
    token,
    side,
    state: stateOf(STATES, fields.state(order), filledQuantity),
    price: priceOrNull(order.price),
    quantity: volume(order, fields.quantity),
    filledQuantity,
    averagePrice: priceOrNull(order[fields.averagePrice]),
    fee: fields.fee(order),
    stopLoss: priceOrNull(order[fields.stopLoss]),
    takeProfit: priceOrNull(order[fields.takeProfit]),
    updatedAt: instant(order, fields.updatedAt),
    raw: info,
  };
}

export function isEntry(info: unknown): boolean {
  const order = record(info);
  return order.reduceOnly !== 'YES' && !/close/i.test(textOf(order.tradeSide));
}

/** How a kind of account names the fields of an open position. */
export interface PositionFields {
  side: string;
  entryPrice: string;
  margin: string;
  unrealisedProfit: string;
  openedAt: string;
}

const POSITION: PositionFields = {
  side: 'holdSide',
  entryPrice: 'openPriceAvg',
  margin: 'marginSize',
  unrealisedProfit: 'unrealizedPL',
  openedAt: 'cTime',
};

export const positionOf = (info: unknown): OpenPosition | null => positionIn(info, POSITION);

export function positionIn(info: unknown, fields: PositionFields): OpenPosition | null {
  const position = record(info);
  const quantity = volume(position, 'total');
  if (!isPositive(quantity)) return null;
  const token = heldTokenOf(position);
  return {
    token,
    side: sideOfPosition(position[fields.side]),
    quantity,
    entryPrice: decimal(position, fields.entryPrice),
    markPrice: priceOrNull(position.markPrice),
    leverage: Number(numberTextOf(position.leverage)),
    marginMode: position.marginMode === 'isolated' ? 'isolated' : 'crossed',
    margin: decimal(position, fields.margin),
    unrealisedProfit: decimal(position, fields.unrealisedProfit),
    liquidationPrice: priceOrNull(position.liquidationPrice),
    openedAt: instantOrNull(position[fields.openedAt]),
  };
}

const PLANS: Record<string, { side: ProtectionPlan['side']; isSized: boolean }> = {
  pos_loss: { side: 'stopLoss', isSized: false },
  loss_plan: { side: 'stopLoss', isSized: true },
  pos_profit: { side: 'takeProfit', isSized: false },
  profit_plan: { side: 'takeProfit', isSized: true },
};

/** Bitget answers an empty list of plans with null. */
export function plansIn(answer: unknown): unknown[] {
  const { entrustedList } = record(record(answer).data);
  return entrustedList === null ? [] : rows(entrustedList);
}

/** How a kind of account writes its stops and targets. */
export interface PlanWords {
  /** Null: it is neither a stop nor a target. Throws when that cannot be read. */
  sideOf(plan: Json): ProtectionPlan['side'] | null;
  /** Throws when they cannot be read. */
  termsOf(plan: Json, side: ProtectionPlan['side']): { triggerPrice: string; quantity: string | null };
}

const CLASSIC: PlanWords = {
  sideOf({ planType }) {
    if (textOf(planType) === '') throw unreadable('The exchange answered a plan of no type');
    return PLANS[textOf(planType)]?.side ?? null;
  },
  termsOf(plan) {
    const triggerPrice = priceIn(plan, 'triggerPrice');
    const { isSized = false } = PLANS[textOf(plan.planType)] ?? {};
    return { triggerPrice, quantity: isSized ? volume(plan, 'size') : null };
  },
};

export function priceIn(plan: Json, field: string): string {
  const price = priceOrNull(plan[field]);
  if (price === null) throw unreadable(`The exchange answered no price as ${field}`);
  return price;
}

export const planOf = (info: unknown): ProtectionPlan | null => planIn(info, CLASSIC);

export function planIn(info: unknown, { sideOf: sideIn, termsOf }: PlanWords): ProtectionPlan | null {
  const plan = record(info);
  const side = sideIn(plan);
  if (side === null) return null;
  return { id: orderIdOf(info), clientOrderId: textOf(plan.clientOid), side, ...termsOf(plan, side) };
}

/** Position-wide plans (`pos_*`) cover any size, plans with their own size (`loss_plan`, `profit_plan`) that size. */
export const protectionOf = (infos: unknown[], position: PositionSize, shown: Protection): Protection =>
  protectionAmong(infos, { position, shown, words: CLASSIC });

/**
 * Plans without a size cover the whole position. Plans with a size count only if together they cover it: half a stop is
 * no stop. What the last part needs is the price for all of it. A plan that cannot be read leaves what it may be of this
 * position unknown, unless the others or the position show it.
 */
export function protectionAmong(
  infos: unknown[],
  { position, shown, words }: { position: PositionSize; shown: Protection; words: PlanWords },
): Protection {
  const plans = infos.flatMap((info) => planAmong(info, position, words));
  const [stop, target] = [held('stopLoss'), held('takeProfit')];
  if (stop.problem !== null) throw unreadable(stop.problem);
  return {
    stopLoss: stop.price,
    takeProfit: target.price,
    ...(target.problem === null ? {} : { targetProblem: target.problem }),
  };

  function held(side: ProtectionPlan['side']): { price: string | null; problem: string | null } {
    const own = plans.filter((plan) => plan.side === side || plan.side === null);
    const price = covering(own, position, side);
    const doubt = own.find(({ problem }) => problem !== null);
    if (price !== null || doubt === undefined) return { price, problem: null };
    const problem = `its ${NAMES[side]} cannot be read: ${doubt.problem}`;
    return shown[side] === null ? { price: null, problem } : { price: shown[side], problem: null };
  }
}

const NAMES = { stopLoss: 'stop loss', takeProfit: 'take profit' } as const;

interface PlanTerms {
  /** Null: it may be either. */
  side: ProtectionPlan['side'] | null;
  triggerPrice: string | null;
  quantity: string | null;
  /** Why it cannot be read. */
  problem: string | null;
}

/** The plan if it is, or may be, one of this position. */
function planAmong(info: unknown, position: PositionSize, words: PlanWords): PlanTerms[] {
  let side: PlanTerms['side'] = null;
  try {
    const plan = record(info);
    const symbol = textOf(plan.symbol);
    if (symbol === '') throw unreadable('The exchange answered a plan of no contract');
    // One-way positions are `net`: a plan of a named side protects that side only.
    const other = position.side === 'long' ? 'short' : 'long';
    if (symbol !== `${position.token}USDT` || plan.posSide === other) return [];
    side = words.sideOf(plan);
    return side === null ? [] : [{ side, ...words.termsOf(plan, side), problem: null }];
  } catch (error) {
    return [{ side, triggerPrice: null, quantity: null, problem: asExchangeError(error).message }];
  }
}

/** The price at which the readable plans of one side cover the whole position. */
function covering(plans: PlanTerms[], position: PositionSize, side: ProtectionPlan['side']): string | null {
  const readable = plans.flatMap(({ triggerPrice, quantity }) =>
    triggerPrice === null ? [] : [{ price: D(triggerPrice), quantity }],
  );
  const ofWhole = readable.find(({ quantity }) => quantity === null);
  if (ofWhole !== undefined) return toPlain(ofWhole.price);
  const isLowFirst = (position.side === 'short') === (side === 'stopLoss');
  let covered = D(0);
  for (const { price, quantity } of readable.sort((a, b) => a.price.cmp(b.price) * (isLowFirst ? 1 : -1))) {
    covered = covered.plus(quantity ?? 0);
    if (covered.gte(position.quantity)) return toPlain(price);
  }
  return null;
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

/** How a kind of account names the fields of a closed position; of names for a time, the first that is there. */
export interface ClosedPositionFields {
  side: string;
  openFee: string;
  closeFee: string;
  entryPrice: string;
  closePrice: string;
  openedAt: readonly string[];
  closedAt: readonly string[];
}

const CLOSED_POSITION: ClosedPositionFields = {
  side: 'holdSide',
  openFee: 'openFee',
  closeFee: 'closeFee',
  entryPrice: 'openAvgPrice',
  closePrice: 'closeAvgPrice',
  openedAt: ['ctime', 'cTime'],
  closedAt: ['utime', 'uTime'],
};

export const closedPositionOf = (info: unknown): ClosedPosition | null =>
  closedPositionIn(info, CLOSED_POSITION);

/** Bitget's net profit is net of funding and fees; both are negative where the account paid. */
export function closedPositionIn(info: unknown, fields: ClosedPositionFields): ClosedPosition | null {
  const position = record(info);
  const token = tokenOf(position);
  if (token === null) return null;
  const side = sideOfPosition(position[fields.side]);
  const fees = D(decimal(position, fields.openFee)).plus(decimal(position, fields.closeFee)).negated();
  const funding = numberTextOf(position.totalFunding);
  const timeIn = (names: readonly string[]) =>
    instant(position, names.find((name) => position[name] !== undefined) ?? names.join(' or '));
  const openedAt = timeIn(fields.openedAt);
  return {
    positionId: textOf(position.positionId) || `${token}USDT-${side}-${openedAt.getTime()}`,
    token,
    side,
    quantity: decimal(position, 'openTotalPos'),
    entryPrice: decimal(position, fields.entryPrice),
    closePrice: decimal(position, fields.closePrice),
    realisedProfit: toPlain(fees.plus(decimal(position, 'netProfit'))),
    fees: toPlain(fees),
    funding: isDecimal(funding) ? toPlain(funding) : null,
    openedAt,
    closedAt: timeIn(fields.closedAt),
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

export const sideOf = ({ side }: Json): 'buy' | 'sell' | null =>
  side === 'buy' || side === 'sell' ? side : null;

function sideOfPosition(side: unknown): 'long' | 'short' {
  if (side === 'long' || side === 'short') return side;
  throw unreadable(`A position is long or short, not ${textOf(side)}`);
}
