import { type BookOwner, isPending, type PaperOrder, type TokenBook } from './book.ts';
import type { LoseStopOf } from './dialects/dialect.ts';
import { immediateSize, type StruckFaults, stopDropIn } from './faults.ts';
import { cancelPaperOrder, fillRest, type NewPaperOrder, placePaperOrder } from './paper-orders.ts';
import { type PaperContext, type PaperSession, withAccount } from './paper-session.ts';
import { AnswerLost, BookRefusal } from './refusals.ts';

/* Placing and cancelling as the faults in force make it end, the same in every dialect. */

export interface StruckCall {
  context: PaperContext;
  owner: BookOwner;
  faults: StruckFaults;
}

export async function placeStruckOrder(
  { context, owner, faults, loseStopOf }: StruckCall & { loseStopOf: LoseStopOf },
  request: Omit<NewPaperOrder, 'immediateSize' | 'dropStop'>,
): Promise<PaperOrder> {
  const refused = request.reduceOnly ? faults.find('closeRefused') : null;
  if (refused) throw new BookRefusal({ kind: 'fault', code: refused.code, message: refused.message });
  if (faults.find('balanceRefused')) throw new BookRefusal({ kind: 'balance' });
  const dropStop = stopDropIn(faults);
  if (dropStop && request.clientOrderId) loseStopOf(request.clientOrderId, dropStop);
  const order = { ...request, immediateSize: immediateSize(faults), dropStop };

  const late = faults.find('lateArrival');
  if (late) {
    const { afterMs, afterRequests } = late;
    const run = () => withAccount(context, owner, (session) => placePaperOrder(session, order));
    context.putOff({ owner, afterMs, afterRequests, run });
    throw new AnswerLost();
  }
  return withAccount(context, owner, async (session) => {
    const protection = session.token(order.token).triggers.filter(({ state }) => state === 'live');
    const accepted = await placePaperOrder(session, order);
    if (faults.find('protectionKept')) for (const trigger of protection) trigger.state = 'live';
    return accepted;
  });
}

/** `lost`: it filled first, which the exchange answers as an order that has ended. */
export async function cancelStruckOrder(
  { context, owner, faults }: StruckCall,
  { session, book, order }: { session: PaperSession; book: TokenBook; order: PaperOrder },
): Promise<'done' | 'lost'> {
  if (faults.find('cancelUnknown')) throw new BookRefusal({ kind: 'order-unknown' });
  const late = faults.find('lateFill');
  if (late) {
    const { afterMs, afterRequests } = late;
    const run = () => withAccount(context, owner, (later) => fillIfPending(later, book.token, order.id));
    context.putOff({ owner, afterMs, afterRequests, run });
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

async function fillIfPending(session: PaperSession, token: string, id: bigint | null): Promise<void> {
  const book = session.token(token);
  const order = book.orders.find((candidate) => candidate.id === id && isPending(candidate));
  if (order) await fillRest(session, book, order);
}

/** The leverage that set-leverage comes to; null where it changes nothing. */
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

export function refuseStruckProtection(faults: StruckFaults): void {
  const refused = faults.find('stopRefused');
  if (refused) throw new BookRefusal({ kind: 'fault', code: refused.code, message: refused.message });
}
