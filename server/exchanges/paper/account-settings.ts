import { isPending, type MarginMode, type PositionMode, positionModeOf, type TokenBook } from './book.ts';
import type { PaperSession } from './paper-books.ts';
import { paperContract } from './paper-contracts.ts';
import { BookRefusal } from './refusals.ts';

/* Settings of a paper account. Setting a value that is already in place changes nothing and is never refused. */

/** A changed leverage re-margins the open position; lowering it takes free balance. */
export async function changeLeverage(
  session: PaperSession,
  book: TokenBook,
  leverage: number,
): Promise<void> {
  const { maximumLeverage: maximum } = paperContract(book.token, session.account.platform);
  if (leverage > maximum) throw new BookRefusal({ kind: 'leverage-too-high', leverage, maximum });
  const { position } = book;
  if (position && position.leverage !== leverage) {
    const margin = position.entryPrice.times(position.size).div(leverage).toDecimalPlaces(12);
    const { available } = await session.balances();
    if (margin.minus(position.margin).gt(available)) throw new BookRefusal({ kind: 'balance' });
    position.margin = margin;
    position.leverage = leverage;
  }
  book.leverage = leverage;
}

/** Applies to every token of the account. */
export function changePositionMode({ account }: PaperSession, mode: PositionMode): void {
  const books = [...account.tokens.values()];
  const changed = books.filter((book) => positionModeOf(account, book) !== mode);
  refuseWithBusiness(changed, 'position mode');
  account.positionMode = mode;
  for (const book of books) book.positionMode = null;
}

/** Applies to one token only. */
export function changePositionModeOfToken(session: PaperSession, book: TokenBook, mode: PositionMode): void {
  if (positionModeOf(session.account, book) === mode) return;
  refuseWithBusiness([book], 'position mode');
  book.positionMode = mode;
}

export function changeMarginModeOfToken(book: TokenBook, mode: MarginMode): void {
  if (book.marginMode === mode) return;
  refuseWithBusiness([book], 'margin mode');
  book.marginMode = mode;
}

/** Applies to the whole account, for exchanges that have no margin mode per token. */
export function changeMarginMode({ account }: PaperSession, mode: MarginMode): void {
  if (account.marginMode === mode) return;
  refuseWithBusiness([...account.tokens.values()], 'margin mode');
  account.marginMode = mode;
}

function refuseWithBusiness(books: TokenBook[], setting: 'position mode' | 'margin mode'): void {
  if (books.some(({ position }) => position !== null)) {
    throw new BookRefusal({ kind: 'business-open', setting, because: 'position' });
  }
  if (books.some(({ orders }) => orders.some(isPending))) {
    throw new BookRefusal({ kind: 'business-open', setting, because: 'order' });
  }
}
