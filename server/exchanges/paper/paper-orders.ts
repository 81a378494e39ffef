import { randomUUID } from 'node:crypto';
import { D, type Decimal, isMultipleOf, largest, smallest } from '#domain/decimal.ts';
import type { Contract } from '../exchange.ts';
import {
  costOf,
  isPending,
  kindOfPlan,
  liveTrigger,
  type MarginMode,
  marginModeOf,
  type PaperOrder,
  type PaperTrigger,
  type PlanType,
  positionModeOf,
  type Side,
  sideOf,
  type TokenBook,
} from './book.ts';
import { fillOrder, isMarketable, isTriggered, setTrigger } from './matching.ts';
import type { PaperSession } from './paper-books.ts';
import { paperContract, paperTick } from './paper-contracts.ts';
import { BookRefusal } from './refusals.ts';

export interface NewPaperOrder {
  token: string;
  clientOrderId: string | null;
  side: Side;
  type: 'limit' | 'market';
  price: Decimal | null;
  size: Decimal;
  reduceOnly: boolean;
  /** Null: the account's. */
  marginMode: MarginMode | null;
  presetStopLoss: Decimal | null;
  presetTakeProfit: Decimal | null;
}

/** Checks and books a new order, and fills all of it if the mark allows. Its `id` is set once the session is saved. */
export async function placePaperOrder(session: PaperSession, request: NewPaperOrder): Promise<PaperOrder> {
  const order = await bookPaperOrder(session, request);
  await fillAtOnce(session, { token: request.token, order, size: order.size });
  return order;
}

/** Checks and books a new order, which then rests. */
export async function bookPaperOrder(session: PaperSession, request: NewPaperOrder): Promise<PaperOrder> {
  const book = session.token(request.token);
  const mark = await session.markOf(request.token);
  checkMode(session, book);
  checkPrecision(session, request, mark);
  checkProtectionSides(request, mark);
  checkClientOrderId(book, request, session);

  const order = newOrder(book, request, session);
  if (request.reduceOnly) order.size = reducedSize(book, order);
  await checkFunds(session, book, order, mark);

  book.orders.push(order);
  return order;
}

/** Fills `size` of a new order at the mark, as a taker, if the mark allows it. */
export async function fillAtOnce(
  session: PaperSession,
  { token, order, size }: { token: string; order: PaperOrder; size: Decimal },
): Promise<void> {
  const mark = await session.markOf(token);
  if (!mark || !isMarketable(order, mark) || !size.gt(0)) return;
  const { account, now: at, stopAtFill } = session;
  const book = session.token(token);
  fillOrder({ account, book, order, price: mark, size, liquidity: 'taker', at, stopAtFill });
}

/** Cancels the unfilled part. Refused if the order is unknown or no longer pending. */
export function cancelPaperOrder(session: PaperSession, book: TokenBook, order: PaperOrder): void {
  if (!isPending(order) || !book.orders.includes(order)) throw new BookRefusal({ kind: 'order-ended' });
  order.state = 'canceled';
  order.updatedAt = session.now;
}

/** Sets or moves the stop loss or the take profit of the open position. Its `id` is set once the session is saved. */
export async function placePaperTrigger(
  session: PaperSession,
  request: {
    token: string;
    planType: PlanType;
    clientOrderId: string | null;
    triggerPrice: Decimal;
    /** The size of the position unless given. */
    size?: Decimal | undefined;
  },
): Promise<PaperTrigger> {
  const book = session.token(request.token);
  const { position } = book;
  if (!position) throw new BookRefusal({ kind: 'no-position' });
  await checkTrigger(session, request, position.side);
  const clientOrderId = request.clientOrderId ?? randomUUID();
  if (liveTrigger(book, request.planType)?.clientOrderId === clientOrderId) {
    throw new BookRefusal({ kind: 'duplicate-client-order-id' });
  }
  const { size = position.size } = request;
  setTrigger(book, request.planType, request.triggerPrice, { clientOrderId, size }, session.now);
  const trigger = liveTrigger(book, request.planType);
  if (!trigger) throw new Error('A trigger vanished while it was placed');
  trigger.clientOrderId = clientOrderId;
  return trigger;
}

/** Refuses a trigger that lies between ticks or that the mark has already passed. */
export async function checkTrigger(
  session: PaperSession,
  request: { token: string; planType: PlanType; triggerPrice: Decimal },
  side: 'long' | 'short',
): Promise<void> {
  const { triggerPrice: trigger } = request;
  const planType = kindOfPlan(request.planType);
  const tickSize = paperTick(request.token, session.account.platform);
  if (!isMultipleOf(trigger, tickSize)) {
    const field = planType === 'pos_loss' ? 'stop loss' : 'take profit';
    throw new BookRefusal({ kind: 'off-step', field, value: trigger, step: tickSize });
  }
  const mark = await session.markOf(request.token);
  if (mark && isTriggered(request, side, mark)) {
    throw new BookRefusal({ kind: 'wrong-side', planType, side, trigger, price: mark });
  }
}

function newOrder(book: TokenBook, request: NewPaperOrder, { account, now }: PaperSession): PaperOrder {
  return {
    id: null,
    clientOrderId: request.clientOrderId ?? randomUUID(),
    side: request.side,
    type: request.type,
    reduceOnly: request.reduceOnly,
    price: request.type === 'limit' ? request.price : null,
    size: request.size,
    filledSize: D(0),
    filledValue: D(0),
    fee: D(0),
    profit: D(0),
    leverage: book.leverage,
    marginMode: request.marginMode ?? marginModeOf(account, book),
    positionMode: positionModeOf(account, book),
    presetStopLoss: request.presetStopLoss,
    presetTakeProfit: request.presetTakeProfit,
    state: 'live',
    source: 'normal',
    createdAt: now,
    updatedAt: now,
  };
}

function checkMode({ account }: PaperSession, book: TokenBook): void {
  if (positionModeOf(account, book) === 'one_way_mode') return;
  throw new BookRefusal({ kind: 'position-mode' });
}

function checkPrecision({ account }: PaperSession, request: NewPaperOrder, mark: Decimal | null): void {
  const contract = paperContract(request.token, account.platform);
  const { quantityStep } = contract;
  const tickSize = paperTick(request.token, account.platform);
  if (!isMultipleOf(request.size, quantityStep)) {
    throw new BookRefusal({ kind: 'off-step', field: 'size', value: request.size, step: quantityStep });
  }
  for (const [field, value] of [
    ['price', request.price],
    ['stop loss', request.presetStopLoss],
    ['take profit', request.presetTakeProfit],
  ] as const) {
    if (value && !isMultipleOf(value, tickSize)) {
      throw new BookRefusal({ kind: 'off-step', field, value, step: tickSize });
    }
  }
  if (request.type === 'limit' && !request.price) throw new BookRefusal({ kind: 'price-missing' });
  if (request.type === 'market' && !mark) throw new BookRefusal({ kind: 'no-market-price' });
  checkMinimums(request, contract, request.price ?? mark);
}

function checkMinimums(request: NewPaperOrder, contract: Contract, price: Decimal | null): void {
  const { minimumQuantity, minimumNotional } = contract;
  if (request.size.lt(minimumQuantity)) {
    throw new BookRefusal({ kind: 'below-minimum-quantity', minimum: minimumQuantity });
  }
  if (!request.reduceOnly && price && request.size.times(price).lt(minimumNotional)) {
    throw new BookRefusal({ kind: 'below-minimum-notional', minimum: minimumNotional });
  }
}

function checkProtectionSides(request: NewPaperOrder, mark: Decimal | null): void {
  const price = request.price ?? mark;
  if (!price) return;
  const side = sideOf(request);
  for (const [planType, trigger] of [
    ['pos_loss', request.presetStopLoss],
    ['pos_profit', request.presetTakeProfit],
  ] as const) {
    if (trigger && isTriggered({ planType, triggerPrice: trigger }, side, price)) {
      throw new BookRefusal({ kind: 'wrong-side', planType, side, trigger, price });
    }
  }
}

/**
 * Unique only among pending orders, as on the real exchange: after a fill or a cancel the same id creates a new order.
 */
function checkClientOrderId(book: TokenBook, request: NewPaperOrder, { account }: PaperSession): void {
  const pending = [...account.tokens.values()].flatMap(({ orders }) => orders.filter(isPending));
  if (pending.some(({ clientOrderId }) => clientOrderId === request.clientOrderId)) {
    throw new BookRefusal({ kind: 'duplicate-client-order-id' });
  }
  const opposed = book.position && book.position.side !== sideOf(request);
  if (request.reduceOnly && !opposed) throw new BookRefusal({ kind: 'no-position' });
}

const reducedSize = (book: TokenBook, order: PaperOrder) =>
  book.position ? smallest(order.size, book.position.size) : order.size;

async function checkFunds(
  session: PaperSession,
  book: TokenBook,
  order: PaperOrder,
  mark: Decimal | null,
): Promise<void> {
  const price = order.price ?? mark;
  if (!price) return;
  // A sell through the market fills above its limit, so it needs the margin at the mark.
  const dearest = mark && order.side === 'sell' ? largest(price, mark) : price;
  const { available } = await session.balances();
  if (costOf(book, order, dearest).gt(available)) throw new BookRefusal({ kind: 'balance' });
}
