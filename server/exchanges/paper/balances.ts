import { D, type Decimal } from '#domain/decimal.ts';
import {
  type AccountBook,
  isPending,
  type PaperOrder,
  remainingSize,
  sideOf,
  sum,
  type TokenBook,
  unrealisedProfit,
} from './book.ts';
import { TAKER_FEE } from './matching.ts';

export interface AccountBalances {
  /** Free for new orders. */
  available: Decimal;
  /** Held for resting orders: their margin and the fee of filling them as a taker. */
  locked: Decimal;
  /** Held by open positions. */
  margin: Decimal;
  unrealisedProfit: Decimal;
  equity: Decimal;
}

/** What the account's rows come to. `markOf` gives a token's mark, or null, which values the position at its entry. */
export function balancesOf(account: AccountBook, markOf: (token: string) => Decimal | null): AccountBalances {
  const books = [...account.tokens.values()];
  const locked = sum(
    books.flatMap((book) => book.orders.filter(isPending).map((order) => lockedBy(book, order))),
  );
  const margin = sum(books.flatMap((book) => (book.position ? [book.position.margin] : [])));
  const unrealised = sum(
    books.flatMap(({ token, position }) => {
      const mark = position ? markOf(token) : null;
      return position && mark ? [unrealisedProfit(position, mark)] : [];
    }),
  );
  const free = account.balance.minus(margin).minus(locked);
  return {
    available: free.lt(0) ? D(0) : free,
    locked,
    margin,
    unrealisedProfit: unrealised,
    equity: account.balance.plus(unrealised),
  };
}

/** What a pending order holds back at its own price. */
export function lockedBy(book: TokenBook, order: PaperOrder): Decimal {
  return order.price ? costOf(book, order, order.price) : D(0);
}

/** Margin plus taker fee of what the order would open beyond the position that it opposes, at `price`. */
export function costOf(book: TokenBook, order: PaperOrder, price: Decimal): Decimal {
  if (order.reduceOnly) return D(0);
  const opposed = book.position && book.position.side !== sideOf(order) ? book.position.size : D(0);
  const remaining = remainingSize(order);
  const opening = remaining.lte(opposed) ? D(0) : remaining.minus(opposed);
  const value = opening.times(price);
  return value.div(order.leverage).plus(value.times(TAKER_FEE));
}
