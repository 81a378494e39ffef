import { randomUUID } from 'node:crypto';
import { D, type Decimal, floorToStep, isMultipleOf, largest, smallest, toPlain } from '#domain/decimal.ts';
import { costOf } from './balances.ts';
import {
  isPending,
  liveTrigger,
  type MarginMode,
  type PaperOrder,
  type PlanType,
  remainingSize,
  type Side,
  sideOf,
  type TokenBook,
} from './book.ts';
import { fillOrder, isMarketable, isTriggered, setTrigger } from './matching.ts';
import { type PaperContract, paperContract } from './paper-contracts.ts';
import { PaperRefusal, type PaperSession } from './paper-session.ts';

export interface NewPaperOrder {
  token: string;
  clientOrderId: string | null;
  side: Side;
  type: 'limit' | 'market';
  price: Decimal | null;
  size: Decimal;
  reduceOnly: boolean;
  marginMode: MarginMode;
  presetStopLoss: Decimal | null;
  presetTakeProfit: Decimal | null;
  /** How much of a marketable order fills at once: 1, unless a fault says otherwise. */
  immediateFraction: string;
  dropStop: boolean;
}

/** Checks, books and, when the mark allows it, fills a new order. Its `id` is there once the session is saved. */
export async function placePaperOrder(session: PaperSession, request: NewPaperOrder): Promise<PaperOrder> {
  const { account, now } = session;
  const book = session.token(request.token);
  const mark = await session.markOf(request.token);
  checkMode(session);
  checkPrecision(request, mark);
  checkProtectionSides(request, mark);
  checkClientOrderId(book, request, session);

  const order = newOrder(book, request, session);
  if (request.reduceOnly) order.size = reducedSize(book, order);
  await checkFunds(session, book, order, mark);

  book.orders.push(order);
  if (mark && isMarketable(order, mark)) {
    const { quantityStep } = paperContract(request.token);
    const size = smallest(order.size, floorToStep(order.size.times(request.immediateFraction), quantityStep));
    const dropStop = request.dropStop;
    if (size.gt(0)) {
      fillOrder({ account, book, order, price: mark, size, liquidity: 'taker', at: now, dropStop });
    }
  }
  return order;
}

/** Cancels what has not been filled. Refused when the order is unknown or no longer pending. */
export function cancelPaperOrder(session: PaperSession, book: TokenBook, order: PaperOrder): void {
  if (!isPending(order) || !book.orders.includes(order))
    throw new PaperRefusal('22001', 'No order to cancel');
  order.state = 'canceled';
  order.updatedAt = session.now;
}

/** Fills what is left of a resting order at the mark, as a race with a cancel would. */
export async function fillRest(session: PaperSession, book: TokenBook, order: PaperOrder): Promise<void> {
  const mark = await session.markOf(book.token);
  const price = mark ?? order.price;
  if (!price || !isPending(order)) return;
  const { account, now } = session;
  fillOrder({ account, book, order, price, size: remainingSize(order), liquidity: 'maker', at: now });
}

export async function placePaperTrigger(
  session: PaperSession,
  request: { token: string; planType: PlanType; clientOrderId: string | null; triggerPrice: Decimal },
) {
  const book = session.token(request.token);
  const { position } = book;
  if (!position) throw new PaperRefusal('22002', 'No position to close');
  const { tickSize } = paperContract(request.token);
  if (!isMultipleOf(request.triggerPrice, tickSize))
    throw scaleError('triggerPrice', request.triggerPrice, tickSize);
  const mark = await session.markOf(request.token);
  if (mark && isTriggered(request, position.side, mark))
    throw crossedError(request.planType, position.side, mark);
  const clientOrderId = request.clientOrderId ?? randomUUID();
  if (liveTrigger(book, request.planType)?.clientOrderId === clientOrderId) throw duplicateError();
  setTrigger(book, request.planType, request.triggerPrice, { clientOrderId }, session.now);
  const trigger = liveTrigger(book, request.planType);
  if (!trigger) throw new Error('A trigger vanished while it was placed');
  trigger.clientOrderId = clientOrderId;
  return trigger;
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
    marginMode: request.marginMode,
    positionMode: account.positionMode,
    presetStopLoss: request.presetStopLoss,
    presetTakeProfit: request.presetTakeProfit,
    state: 'live',
    source: 'normal',
    createdAt: now,
    updatedAt: now,
  };
}

function checkMode({ account }: PaperSession): void {
  if (account.positionMode === 'one_way_mode') return;
  throw new PaperRefusal(
    '40774',
    'The order type for unilateral position must also be the unilateral position type.',
  );
}

function checkPrecision(request: NewPaperOrder, mark: Decimal | null): void {
  const contract = paperContract(request.token);
  if (!isMultipleOf(request.size, contract.quantityStep))
    throw scaleError('size', request.size, contract.quantityStep);
  for (const name of ['price', 'presetStopLoss', 'presetTakeProfit'] as const) {
    const value = request[name];
    if (value && !isMultipleOf(value, contract.tickSize)) throw scaleError(name, value, contract.tickSize);
  }
  if (request.type === 'limit' && !request.price)
    throw new PaperRefusal('40017', 'Parameter verification failed price');
  if (request.type === 'market' && !mark) throw new PaperRefusal('40020', 'There is no market price yet');
  checkMinimums(request, contract, request.price ?? mark);
}

function checkMinimums(request: NewPaperOrder, contract: PaperContract, price: Decimal | null): void {
  if (request.size.lt(contract.minimumQuantity)) {
    throw new PaperRefusal('45111', `less than the minimum order quantity ${contract.minimumQuantity}`);
  }
  if (!request.reduceOnly && price && request.size.times(price).lt(contract.minimumNotional)) {
    throw new PaperRefusal('45110', `less than the minimum amount ${contract.minimumNotional} USDT`);
  }
}

function checkProtectionSides(request: NewPaperOrder, mark: Decimal | null): void {
  const price = request.price ?? mark;
  if (!price) return;
  const side = sideOf(request);
  for (const [planType, triggerPrice] of [
    ['pos_loss', request.presetStopLoss],
    ['pos_profit', request.presetTakeProfit],
  ] as const) {
    if (triggerPrice && isTriggered({ planType, triggerPrice }, side, price))
      throw crossedError(planType, side, price);
  }
}

/** Unique among pending orders only, as on the real exchange: after a fill or a cancel the same id makes a new order. */
function checkClientOrderId(book: TokenBook, request: NewPaperOrder, { account }: PaperSession): void {
  const pending = [...account.tokens.values()].flatMap(({ orders }) => orders.filter(isPending));
  if (pending.some(({ clientOrderId }) => clientOrderId === request.clientOrderId)) throw duplicateError();
  const opposed = book.position && book.position.side !== sideOf(request);
  if (request.reduceOnly && !opposed) throw new PaperRefusal('22002', 'No position to close');
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
  // A sell through the market fills above its limit, so it needs the margin of the mark.
  const dearest = mark && order.side === 'sell' ? largest(price, mark) : price;
  const { available } = await session.balances();
  if (costOf(book, order, dearest).gt(available)) {
    throw new PaperRefusal('40762', 'The order amount exceeds the balance');
  }
}

const duplicateError = () => new PaperRefusal('40786', 'Duplicate clientOid');

const scaleError = (name: string, value: Decimal, step: string) =>
  new PaperRefusal(
    '40808',
    `Parameter verification exception ${name} checkBDScale error value=${toPlain(value)} checkScale=${step}`,
  );

function crossedError(planType: PlanType, side: 'long' | 'short', price: Decimal): PaperRefusal {
  const at = toPlain(price);
  if (planType === 'pos_profit') {
    const relation = side === 'long' ? '>' : '<';
    return new PaperRefusal(
      '40915',
      `Take profit price of a ${side} position please ${relation} mark price ${at}`,
    );
  }
  return side === 'long'
    ? new PaperRefusal('40917', `Stop price for long positions please < mark price ${at}`)
    : new PaperRefusal('45122', `Short position stop loss price please > mark price ${at}`);
}
