import { D, type Decimal, floorToStep, largest, smallest } from '#domain/decimal.ts';
import {
  type BookOwner,
  isPending,
  type PaperOrder,
  remainingSize,
  type TokenBook,
} from '#server/exchanges/paper/book.ts';
import { fillOrder, orderedStop, type StopAtFill } from '#server/exchanges/paper/matching.ts';
import { type PaperSession, withAccount } from '#server/exchanges/paper/paper-books.ts';
import { paperContract } from '#server/exchanges/paper/paper-contracts.ts';
import {
  bookPaperOrder,
  cancelPaperOrder,
  fillAtOnce,
  type NewPaperOrder,
} from '#server/exchanges/paper/paper-orders.ts';
import { BookRefusal } from '#server/exchanges/paper/refusals.ts';
import type { StrikeStopOf, VenueBooks } from './dialect.ts';
import { immediateSize, type StruckFaults } from './faults.ts';
import { AnswerLost, StruckRefusal } from './refusals.ts';

/* Placing and cancelling under the active faults, shared by all dialects. */

export interface StruckCall {
  books: VenueBooks;
  owner: BookOwner;
  faults: StruckFaults;
}

export async function placeStruckOrder(
  { books, owner, faults, strikeStopOf }: StruckCall & { strikeStopOf: StrikeStopOf },
  order: NewPaperOrder,
): Promise<PaperOrder> {
  if (!order.reduceOnly) books.contracts.requireOpen(owner.platform, order.token);
  books.contracts.requireSize(owner.platform, order);
  const refused = order.reduceOnly ? faults.find('closeRefused') : null;
  if (refused) throw new StruckRefusal(refused);
  if (faults.find('balanceRefused')) throw new BookRefusal({ kind: 'balance' });
  const stopAtFill = struckStopAtFill(faults, { token: order.token, platform: owner.platform });
  if (stopAtFill && order.clientOrderId) strikeStopOf(order.clientOrderId, stopAtFill);

  const late = faults.find('lateArrival');
  if (late) {
    const { afterMs, afterRequests } = late;
    const run = () => withAccount(books, owner, (session) => placeInPart(session, order, faults));
    books.putOff({ owner, afterMs, afterRequests, run });
    throw new AnswerLost();
  }
  return withAccount(books, owner, async (session) => {
    const protection = session.token(order.token).triggers.filter(({ state }) => state === 'live');
    const accepted = await placeInPart(session, order, faults);
    if (faults.find('protectionKept')) for (const trigger of protection) trigger.state = 'live';
    return accepted;
  });
}

/** Fills immediately as much as the faults allow. */
async function placeInPart(
  session: PaperSession,
  request: NewPaperOrder,
  faults: StruckFaults,
): Promise<PaperOrder> {
  const { token } = request;
  const order = await bookPaperOrder(session, request);
  const step = D(paperContract(token, session.account.platform).quantityStep);
  const wanted = largest(immediateSize(faults)(order.size, step), 0);
  await fillAtOnce(session, { token, order, size: smallest(order.size, floorToStep(wanted, step)) });
  return order;
}

/** `lost`: the order filled first; the exchange answers as for an ended order. */
export async function cancelStruckOrder(
  { books, owner, faults }: StruckCall,
  { session, book, order }: { session: PaperSession; book: TokenBook; order: PaperOrder },
): Promise<'done' | 'lost'> {
  if (faults.find('cancelUnknown')) throw new BookRefusal({ kind: 'order-unknown' });
  const late = faults.find('lateFill');
  if (late) {
    const { afterMs, afterRequests } = late;
    const run = () => withAccount(books, owner, (later) => fillIfPending(later, book.token, order.id));
    books.putOff({ owner, afterMs, afterRequests, run });
    return 'done';
  }
  if (faults.find('cancelLosesToFill')) {
    await fillRest(session, book, order);
    return 'lost';
  }
  if (faults.find('cancelAcknowledgedButFilled')) await fillRest(session, book, order);
  else cancelPaperOrder(session, book, order);
  return 'done';
}

/** Notes the first cancel of an order whose look-ups are stale. */
export function noteCancel(
  { books, faults, now }: Pick<StruckCall, 'books' | 'faults'> & { now: Date },
  clientOrderId: string | undefined,
): void {
  if (clientOrderId === undefined || !faults.find('staleLookUps')) return;
  if (!books.cancelAskedAt.has(clientOrderId)) books.cancelAskedAt.set(clientOrderId, now);
}

/** The entry as a look-up shows it: without its fills while look-ups are stale. */
export function asLookedUp(
  { books, faults, now }: Pick<StruckCall, 'books' | 'faults'> & { now: Date },
  order: PaperOrder,
): PaperOrder {
  const stale = faults.find('staleLookUps');
  if (!stale || order.reduceOnly || order.source !== 'normal') return order;
  const askedAt = books.cancelAskedAt.get(order.clientOrderId);
  const staleMs = stale.afterCancelMs ?? Number.POSITIVE_INFINITY;
  if (askedAt !== undefined && now.getTime() - askedAt.getTime() >= staleMs) return order;
  const state = askedAt === undefined ? 'live' : 'canceled';
  return { ...order, state, filledSize: D(0), filledValue: D(0), fee: D(0) };
}

/** Fills the rest of a resting order at the mark, as in a race with a cancel. */
async function fillRest(session: PaperSession, book: TokenBook, order: PaperOrder): Promise<void> {
  const price = (await session.markOf(book.token)) ?? order.price;
  if (!price || !isPending(order)) return;
  const { account, now: at } = session;
  fillOrder({ account, book, order, price, size: remainingSize(order), liquidity: 'maker', at });
}

async function fillIfPending(session: PaperSession, token: string, id: bigint | null): Promise<void> {
  const book = session.token(token);
  const order = book.orders.find((candidate) => candidate.id === id && isPending(candidate));
  if (order) await fillRest(session, book, order);
}

/** The leverage that set-leverage results in; null if it changes nothing. */
export function struckLeverage(faults: StruckFaults, wanted: number, maximum: number): number | null {
  if (faults.find('leverageRefused')) {
    throw new BookRefusal({ kind: 'leverage-too-high', leverage: wanted, maximum });
  }
  if (faults.find('leverageIgnored')) return null;
  const differs = faults.find('leverageDiffers');
  if (!differs) return wanted;
  const other = Math.trunc(Number(differs.leverage));
  return other >= 1 && other <= maximum ? other : Math.max(1, wanted - 1);
}

type OfContract = Pick<BookOwner, 'platform'> & { token: string };

/** What becomes of an order's stop when it fills; null if nothing does. */
function struckStopAtFill(faults: StruckFaults, contract: OfContract): StopAtFill | null {
  const drop = faults.find('stopDropped');
  if (drop) {
    const { when = 'always' } = drop;
    return (order, fill) =>
      when === 'always' || (when === 'while partly filled' && !fill.isWhole)
        ? null
        : orderedStop(order, fill);
  }
  const misplaced = faults.find('stopMisplaced');
  if (!misplaced) return null;
  return (order, fill) => {
    const stop = orderedStop(order, fill);
    if (stop === null) return null;
    const side = order.side === 'buy' ? 'long' : 'short';
    const price = struckStopPrice(faults, { ...contract, side, price: stop.price });
    if (misplaced.covers === undefined) return { price };
    const step = paperContract(contract.token, contract.platform).quantityStep;
    return { price, size: largest(floorToStep(order.size.times(misplaced.covers), step), step) };
  };
}

/** The price at which a stop lands: as wanted, unless it is misplaced. */
export function struckStopPrice(
  faults: StruckFaults,
  wanted: OfContract & { side: 'long' | 'short'; price: Decimal },
): Decimal {
  const ticks = faults.find('stopMisplaced')?.ticks;
  if (ticks === undefined) return wanted.price;
  const { token, platform, side, price } = wanted;
  const { tickSize } = paperContract(token, platform);
  if (ticks === 'most') return side === 'long' ? D(tickSize) : price.times(10);
  const distance = D(tickSize).times(ticks);
  return side === 'long' ? largest(price.minus(distance), tickSize) : price.plus(distance);
}

export function refuseStruckProtection(faults: StruckFaults): void {
  const refused = faults.find('stopRefused');
  if (refused) throw new StruckRefusal(refused);
}
