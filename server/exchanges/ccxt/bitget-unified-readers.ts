import { D, isDecimal, isPositive, toPlain } from '#domain/decimal.ts';
import {
  type ClosedPosition,
  type ClosingOrder,
  ExchangeError,
  type KeyInspection,
  type OpenPosition,
  type OrderReport,
  type Protection,
} from '../exchange.ts';
import {
  type ClosedPositionFields,
  closedPositionIn,
  type OrderFields,
  orderIn,
  type PlanWords,
  type PositionFields,
  planIn,
  positionIn,
  priceIn,
  protectionAmong,
  sideOf,
} from './bitget-readers.ts';
import type {
  AccountState,
  FuturesBalance,
  PositionSize,
  ProtectionChange,
  ProtectionPlan,
} from './dialect.ts';
import type { ShownPreparation } from './prepared-accounts.ts';
import {
  closingOrderAmong,
  decimalOrZero,
  instant,
  instantOrNull,
  type Json,
  list,
  numberTextOf,
  orderIdOf,
  priceOrNull,
  record,
  rows,
  textOf,
  unreadable,
  usdtBalance,
} from './readers.ts';

/* Bitget v3's JSON in the port's terms. */

const USDT_FUTURES = 'USDT-FUTURES';

export const dataIn = (answer: unknown): unknown => record(answer).data;

/** One page of a list, with the cursor of the next. */
export interface Page {
  found: unknown[];
  cursor: string;
}

export function pageIn(answer: unknown): Page {
  const { list: found, cursor } = record(dataIn(answer));
  return { found: rows(found), cursor: textOf(cursor) };
}

/** An empty history may be answered with an empty list or with none, as in v2. */
export function historyPageIn(answer: unknown): Page {
  const { list: found, cursor } = record(dataIn(answer));
  return { found: rows(found ?? []), cursor: textOf(cursor) };
}

/** Bitget answers coins with a balance only: without USDT there is no figure to size an order by. */
export function balanceOf(answer: unknown): FuturesBalance | null {
  const usdt = list(record(dataIn(answer)).assets).find(({ coin }) => coin === 'USDT');
  if (usdt === undefined) return null;
  return {
    futuresBalance: usdtBalance(usdt, 'equity'),
    futuresAvailable: usdtBalance(usdt, 'available'),
    futuresLocked: decimalOrZero(usdt, 'locked', usdtBalance),
  };
}

/**
 * The margin mode is the account's (`accountLevel`), the leverage the contract's. A contract without an entry for
 * isolated margin has no leverage that an order could rely on.
 */
export function accountStateOf(answer: unknown, symbol: string): AccountState {
  const settings = record(dataIn(answer));
  const configured = list(settings.symbolConfigList ?? []).find(
    (one) => one.category === USDT_FUTURES && one.symbol === symbol && one.marginMode === 'isolated',
  );
  return {
    leverage: configured === undefined ? Number.NaN : Number(numberTextOf(configured.leverage)),
    marginMode: textOf(settings.accountLevel),
    positionMode: textOf(settings.holdMode),
  };
}

const ORDER: OrderFields = {
  state: ({ orderStatus }) => orderStatus,
  quantity: 'qty',
  filledQuantity: 'cumExecQty',
  averagePrice: 'avgPrice',
  stopLoss: 'stopLoss',
  takeProfit: 'takeProfit',
  updatedAt: 'updatedTime',
  fee: feeOf,
};

export const orderOf = (info: unknown, token: string): OrderReport => orderIn(info, token, ORDER);

/** Positive where paid, unlike the fees of a position. One in another coin than USDT counts as unknown. */
function feeOf({ feeDetail }: Json): string | null {
  if (!Array.isArray(feeDetail)) return null;
  const fees = list(feeDetail).filter(({ fee }) => textOf(fee) !== '');
  const isKnown = fees.every(({ feeCoin, fee }) => feeCoin === 'USDT' && isDecimal(numberTextOf(fee)));
  if (fees.length === 0 || !isKnown) return null;
  return toPlain(fees.reduce((sum, { fee }) => sum.plus(numberTextOf(fee)), D(0)));
}

/** Requests say `yes`, answers `YES`. */
const isReducing = ({ reduceOnly }: Json): boolean => /^yes$/i.test(textOf(reduceOnly));

export function isEntry(info: unknown): boolean {
  const order = record(info);
  return !isReducing(order) && !/close/i.test(textOf(order.tradeSide));
}

export function shownByOrder(info: unknown): ShownPreparation | null {
  const mode = textOf(record(info).marginMode);
  return { leverage: null, isIsolated: mode === '' ? null : mode === 'isolated' };
}

const POSITION: PositionFields = {
  side: 'posSide',
  entryPrice: 'avgPrice',
  margin: 'positionBalance',
  unrealisedProfit: 'unrealisedPnl',
  openedAt: 'createdTime',
};

export const positionOf = (info: unknown): OpenPosition | null => positionIn(info, POSITION);

const SIDES = ['stopLoss', 'takeProfit'] as const;

/**
 * The stops and targets among the strategy orders, each as one: an order may hold both, and one that is only a trigger
 * holds neither. One of no price at all may be either.
 */
export function legsIn(answer: unknown): unknown[] {
  return rows(dataIn(answer)).flatMap((info) => {
    if (typeof info !== 'object' || info === null) return [info];
    const order = record(info);
    const legs = SIDES.filter((side) => isNamed(order[side]));
    if (legs.length > 0) return legs.map((leg) => ({ ...order, leg }));
    return priceOrNull(order.triggerPrice) === null ? [{ ...order, leg: '' }] : [];
  });
}

/** Zero may stand for none. */
const isNamed = (price: unknown): boolean => !/^[0.]*$/.test(textOf(price));

const LEGS: PlanWords = {
  sideOf({ leg }) {
    const side = SIDES.find((one) => one === leg);
    if (side === undefined) throw unreadable('The exchange answered neither a stop nor a target');
    return side;
  },
  termsOf(leg, side) {
    const quantity = numberTextOf(leg.qty);
    return {
      triggerPrice: priceIn(leg, side),
      // No answer tells the mode: one without a size is of the whole position.
      quantity: isPositive(quantity) ? toPlain(quantity) : null,
    };
  },
};

export const planOf = (info: unknown): ProtectionPlan | null => planIn(info, LEGS);

export const protectionOf = (infos: unknown[], position: PositionSize, shown: Protection): Protection =>
  protectionAmong(infos, { position, shown, words: LEGS });

const LEG_FIELDS = {
  stopLoss: ['slTriggerBy', 'slOrderType', 'slLimitPrice'],
  takeProfit: ['tpTriggerBy', 'tpOrderType', 'tpLimitPrice'],
} as const;

/**
 * The request that moves one leg of a strategy order. The other leg is named as it is: no document says that what a
 * change does not name is kept.
 */
export function changeOf(info: unknown, { side, triggerPrice }: ProtectionChange): Json {
  const order = record(info);
  const other = side === 'stopLoss' ? 'takeProfit' : 'stopLoss';
  const [triggerBy, orderType] = LEG_FIELDS[side];
  const kept = [other, ...LEG_FIELDS[other]].filter((name) => textOf(order[name]) !== '');
  return {
    orderId: orderIdOf(info),
    qty: numberTextOf(order.qty),
    [side]: triggerPrice,
    [triggerBy]: 'mark',
    [orderType]: 'market',
    ...(priceOrNull(order[other]) === null
      ? {}
      : Object.fromEntries(kept.map((name) => [name, textOf(order[name])]))),
  };
}

const CLOSED_POSITION: ClosedPositionFields = {
  side: 'posSide',
  openFee: 'openFeeTotal',
  closeFee: 'closeFeeTotal',
  entryPrice: 'openPriceAvg',
  closePrice: 'closePriceAvg',
  openedAt: ['createdTime'],
  closedAt: ['updatedTime'],
};

export const closedPositionOf = (info: unknown): ClosedPosition | null =>
  closedPositionIn(info, CLOSED_POSITION);

export function closingOrderOf(infos: unknown[], position: ClosedPosition): ClosingOrder | null {
  const orders = infos.map(record).map((order) => ({
    symbol: textOf(order.symbol),
    side: sideOf(order),
    filledQuantity: numberTextOf(order.cumExecQty),
    at: instant(order, 'updatedTime'),
    canOnlyReduce: isReducing(order),
    clientOrderId: textOf(order.clientOid),
    source: order.execType === 'liquidation' ? ('liquidation' as const) : ('order' as const),
  }));
  return closingOrderAmong(orders, position);
}

/** A strategy order and the order that it sends carry times of their own. */
const TRIGGER_SLACK_MS = 5_000;

/**
 * Which stop or target ended the position, by the strategy orders that were executed as it ended; null if none was. Of
 * one that holds both, it was the one nearer to the price of the close.
 */
export function triggeredBy(infos: unknown[], position: ClosedPosition): 'stop loss' | 'take profit' | null {
  const executed = infos.map(record).filter((order) => {
    const at = instantOrNull(order.updatedTime);
    return (
      order.symbol === `${position.token}USDT` &&
      order.posSide === position.side &&
      order.status === 'success' &&
      at !== null &&
      Math.abs(at.getTime() - position.closedAt.getTime()) <= TRIGGER_SLACK_MS
    );
  });
  const legs = executed.flatMap((order) =>
    SIDES.flatMap((side) => {
      const price = priceOrNull(order[side]);
      return price === null ? [] : [{ side, apart: D(price).minus(position.closePrice).abs() }];
    }),
  );
  const [nearest] = legs.sort((one, two) => one.apart.cmp(two.apart));
  if (nearest === undefined) return null;
  return nearest.side === 'stopLoss' ? 'stop loss' : 'take profit';
}

/** Throws while Bitget moves the account between its kinds. */
export function accountModeOf(answer: unknown): Pick<KeyInspection, 'untradedMode'> {
  const { accountMode, accountLevel } = record(dataIn(answer));
  if (accountMode === 'upgrading' || accountMode === 'switching') {
    throw new ExchangeError('retry-later', 'Bitget: the account is being changed to another kind');
  }
  const level = textOf(accountLevel);
  if (level === '') throw unreadable('The exchange answered no mode of the account');
  return level === 'isolated' ? {} : { untradedMode: level };
}

/*
 * Permissions as listed in Bitget's documentation of GET /api/v3/account/info; none was seen live. Management is needed
 * for the leverage, trading for orders. An unknown permission neither allows trading nor rejects the key, unless its
 * name mentions withdrawing.
 */
const NEEDED = ['uta_mgt', 'uta_trade'];

export function keyInspectionOf(answer: unknown): KeyInspection {
  const { uid, userId, permType, permissions } = record(dataIn(answer));
  if (!Array.isArray(permissions)) throw new RangeError('The exchange answered no list of permissions');
  const granted = permissions.map((one) => String(one).trim().toLowerCase());
  return {
    accountMode: 'unified',
    mayTrade: permType === 'read-and-write' && NEEDED.every((one) => granted.includes(one)),
    mayWithdraw: permType !== 'read-only' && granted.some((one) => one.includes('withdraw')),
    // Copies of the documentation name the field differently.
    accountId: textOf(userId) || textOf(uid) || null,
  };
}
