import { D, type Decimal, smallest } from '#domain/decimal.ts';
import {
  type AccountBook,
  isPending,
  kindOfPlan,
  liveTrigger,
  type PaperOrder,
  type PaperPosition,
  type PaperTrigger,
  type PlanType,
  positionModeOf,
  remainingSize,
  sideOf,
  type TokenBook,
} from './book.ts';
import { MAINTENANCE_MARGIN_RATE, MAKER_FEE, TAKER_FEE } from './paper-contracts.ts';

/*
 * The rules of the paper exchange, without I/O. They work only on the given book.
 * 1. A limit order fills when the mark is at or through its limit, at the mark; otherwise it rests.
 * 2. Stop loss and take profit close the whole position at the mark that crosses them, never at their own price.
 * 3. A mark affects an existing position before it fills orders: a position opened by one mark can only be closed by a
 *    later one.
 * 4. An isolated position never loses more than its margin.
 */

/** Entry prices and margins are quotients, kept to this many decimals. */
const QUOTIENT_PLACES = 12;

/**
 * The stop that the position gets with a fill; with a size it covers only that much, null is none. Only test venues
 * set another one than was ordered, so that the product has to notice.
 */
export type StopAtFill = (
  order: PaperOrder,
  fill: { isWhole: boolean },
) => { price: Decimal; size?: Decimal } | null;

export const orderedStop: StopAtFill = ({ presetStopLoss }) =>
  presetStopLoss === null ? null : { price: presetStopLoss };

/** Executes part or all of an order: closes the opposite position, opens the rest, books profit, fee and margin. */
export function fillOrder(options: {
  account: AccountBook;
  book: TokenBook;
  order: PaperOrder;
  price: Decimal;
  size: Decimal;
  liquidity: 'maker' | 'taker';
  at: Date;
  stopAtFill?: StopAtFill | undefined;
}): void {
  const { account, book, order, price, size, liquidity, at, stopAtFill = orderedStop } = options;
  const value = price.times(size);
  const rate = order.source === 'liquidation' ? D(0) : D(liquidity === 'taker' ? TAKER_FEE : MAKER_FEE);
  const fee = value.times(rate);
  const opposed = book.position && book.position.side !== sideOf(order) ? book.position : null;
  const closing = opposed ? smallest(size, opposed.size) : D(0);
  const opening = order.reduceOnly ? D(0) : size.minus(closing);
  const stop = stopAtFill(order, { isWhole: size.eq(remainingSize(order)) });

  const profit = opposed ? closePart(book, opposed, closing, price, at) : D(0);
  if (opening.gt(0)) {
    openPart(book, order, opening, price, at);
    if (stop) {
      const { clientOrderId } = order;
      const { price: stopPrice, size: stopSize } = stop;
      if (stopSize === undefined) setTrigger(book, 'pos_loss', stopPrice, order, at);
      else setTrigger(book, 'loss_plan', stopPrice, { clientOrderId, size: stopSize }, at);
    }
    if (order.presetTakeProfit) setTrigger(book, 'pos_profit', order.presetTakeProfit, order, at);
  }

  account.balance = account.balance.plus(profit).minus(fee);
  account.realisedProfit = account.realisedProfit.plus(profit);
  account.feesPaid = account.feesPaid.plus(fee);

  order.filledSize = order.filledSize.plus(size);
  order.filledValue = order.filledValue.plus(value);
  order.fee = order.fee.plus(fee);
  order.profit = order.profit.plus(profit);
  order.state = remainingSize(order).isZero() ? 'filled' : 'partially_filled';
  order.updatedAt = at;
  book.fills.push({ order, side: order.side, price, size, value, fee, profit, liquidity, createdAt: at });
}

/** Whether a new order matches immediately: all of it at the mark, as a taker. */
export function isMarketable(order: Pick<PaperOrder, 'side' | 'type' | 'price'>, mark: Decimal): boolean {
  if (order.type === 'market' || order.price === null) return true;
  return order.side === 'buy' ? mark.lte(order.price) : mark.gte(order.price);
}

/** Applies one new mark to a token's position and resting orders. */
export function settleMark(options: {
  account: AccountBook;
  book: TokenBook;
  mark: Decimal;
  at: Date;
  stopAtFill?: StopAtFill | undefined;
}): void {
  const { account, book, mark, at, stopAtFill } = options;
  const { position } = book;
  if (position) {
    const crossed = crossedBy(book, position, mark);
    if (crossed) {
      const price = crossed === 'liquidation' ? bankruptcyPrice(position) : mark;
      closeWhole(account, book, position, crossed, price, at);
    }
  }
  for (const order of book.orders.filter(isPending)) {
    if (!isMarketable(order, mark)) continue;
    const size = order.reduceOnly ? reducibleSize(book, order) : remainingSize(order);
    if (size.isZero()) {
      order.state = 'canceled';
      order.updatedAt = at;
      continue;
    }
    fillOrder({ account, book, order, price: mark, size, liquidity: 'maker', at, stopAtFill });
  }
}

/** The part of a reduce-only order that the open position can still take. */
export function reducibleSize(book: TokenBook, order: PaperOrder): Decimal {
  if (!book.position || book.position.side === sideOf(order)) return D(0);
  return smallest(remainingSize(order), book.position.size);
}

/** The mark at which the loss has eaten the margin down to the maintenance margin. */
export function liquidationPrice(position: PaperPosition): Decimal {
  const value = position.entryPrice.times(position.size);
  return position.side === 'long'
    ? value.minus(position.margin).div(position.size.times(D(1).minus(MAINTENANCE_MARGIN_RATE)))
    : value.plus(position.margin).div(position.size.times(D(1).plus(MAINTENANCE_MARGIN_RATE)));
}

/** Sets or moves the position's stop loss or take profit: there is one of each type, and a second one replaces the first. */
export function setTrigger(
  book: TokenBook,
  planType: PlanType,
  triggerPrice: Decimal,
  origin: { clientOrderId: string; size?: Decimal },
  at: Date,
): void {
  const { position } = book;
  if (!position) throw new Error('A stop loss or take profit needs a position');
  const { size = position.size } = origin;
  const live = liveTrigger(book, planType);
  if (live) {
    Object.assign(live, { triggerPrice, size, updatedAt: at });
    return;
  }
  book.triggers.push({
    id: null,
    clientOrderId: origin.clientOrderId,
    planType,
    holdSide: position.side,
    triggerPrice,
    size,
    state: 'live',
    createdAt: at,
    updatedAt: at,
  });
}

export function isTriggered(
  trigger: { planType: PlanType; triggerPrice: Decimal },
  side: 'long' | 'short',
  mark: Decimal,
): boolean {
  const below = (kindOfPlan(trigger.planType) === 'pos_loss') === (side === 'long');
  return below ? mark.lte(trigger.triggerPrice) : mark.gte(trigger.triggerPrice);
}

function crossedBy(
  book: TokenBook,
  position: PaperPosition,
  mark: Decimal,
): PaperTrigger | 'liquidation' | null {
  const liquidation = liquidationPrice(position);
  if (position.side === 'long' ? mark.lte(liquidation) : mark.gte(liquidation)) return 'liquidation';
  const crossed = book.triggers.filter(
    (trigger) => trigger.state === 'live' && isTriggered(trigger, position.side, mark),
  );
  return crossed.find(({ planType }) => kindOfPlan(planType) === 'pos_loss') ?? crossed[0] ?? null;
}

function closeWhole(
  account: AccountBook,
  book: TokenBook,
  position: PaperPosition,
  by: PaperTrigger | 'liquidation',
  price: Decimal,
  at: Date,
): void {
  const trigger = by === 'liquidation' ? null : by;
  const source = by === 'liquidation' ? by : kindOfPlan(by.planType);
  if (trigger) Object.assign(trigger, { state: 'executed', updatedAt: at });
  const order: PaperOrder = {
    id: null,
    // A separate id: the trigger may carry the id of the entry that brought it, and look-ups are by id.
    clientOrderId: trigger
      ? `${trigger.clientOrderId}-${source === 'pos_loss' ? 'sl' : 'tp'}`
      : 'liquidation',
    side: position.side === 'long' ? 'sell' : 'buy',
    type: 'market',
    reduceOnly: true,
    price: null,
    size: position.size,
    filledSize: D(0),
    filledValue: D(0),
    fee: D(0),
    profit: D(0),
    leverage: position.leverage,
    marginMode: position.marginMode,
    positionMode: positionModeOf(account, book),
    presetStopLoss: null,
    presetTakeProfit: null,
    state: 'live',
    source,
    createdAt: at,
    updatedAt: at,
  };
  book.orders.push(order);
  fillOrder({ account, book, order, price, size: position.size, liquidity: 'taker', at });
}

function openPart(book: TokenBook, order: PaperOrder, size: Decimal, price: Decimal, at: Date): void {
  const margin = price.times(size).div(order.leverage).toDecimalPlaces(QUOTIENT_PLACES);
  const { position } = book;
  if (!position) {
    book.position = {
      side: sideOf(order),
      size,
      entryPrice: price,
      margin,
      leverage: order.leverage,
      marginMode: order.marginMode,
      realisedProfit: D(0),
      openedAt: at,
      updatedAt: at,
    };
    return;
  }
  const total = position.size.plus(size);
  const value = position.entryPrice.times(position.size).plus(price.times(size));
  position.entryPrice = value.div(total).toDecimalPlaces(QUOTIENT_PLACES);
  position.size = total;
  position.margin = position.margin.plus(margin);
  position.updatedAt = at;
}

function closePart(
  book: TokenBook,
  position: PaperPosition,
  size: Decimal,
  price: Decimal,
  at: Date,
): Decimal {
  const direction = position.side === 'long' ? 1 : -1;
  const profit = price.minus(position.entryPrice).times(size).times(direction);
  const whole = size.eq(position.size);
  const released = whole
    ? position.margin
    : position.margin.times(size).div(position.size).toDecimalPlaces(QUOTIENT_PLACES);
  position.size = position.size.minus(size);
  position.margin = position.margin.minus(released);
  position.realisedProfit = position.realisedProfit.plus(profit);
  position.updatedAt = at;
  if (whole) {
    book.position = null;
    for (const trigger of book.triggers.filter(({ state }) => state === 'live')) {
      Object.assign(trigger, { state: 'cancelled', updatedAt: at });
    }
  }
  return profit;
}

/**
 * The price at which the whole margin is lost; the exchange's insurance fund covers the difference to the real mark.
 */
export const bankruptcyPrice = (position: PaperPosition) => {
  // Truncated, not rounded: a position never loses more than its margin.
  const perCoin = position.margin.div(position.size).toDecimalPlaces(QUOTIENT_PLACES);
  return position.side === 'long' ? position.entryPrice.minus(perCoin) : position.entryPrice.plus(perCoin);
};
