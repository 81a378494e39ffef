import { D, type Decimal } from '#domain/decimal.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { TAKER_FEE } from './paper-contracts.ts';
import type { paperFills, paperOrders, paperPositions, paperTriggerOrders } from './paper-schema.ts';
import type { RowOf } from './row-texts.ts';

/** The owner of a set of books: a user has a separate account on each platform. */
export interface BookOwner {
  userId: string;
  platform: ExchangePlatform;
}

/**
 * The state of one paper account while a transaction holds its row lock. Amounts are Decimals; quantities in the base
 * coin.
 */
export interface AccountBook extends BookOwner {
  balance: Decimal;
  realisedProfit: Decimal;
  feesPaid: Decimal;
  positionMode: PositionMode;
  /** Set where the whole account has one margin mode (Bybit); null where each token has its own (Bitget). */
  marginMode: MarginMode | null;
  tokens: Map<string, TokenBook>;
}

type Owned = 'userId' | 'platform' | 'token';
/** The id is null until the row is stored. */
type Unstored<Row extends { id: bigint }> = Omit<Row, Owned | 'id'> & { id: bigint | null };

export type PaperOrder = Unstored<RowOf<typeof paperOrders>>;
export type PaperTrigger = Unstored<RowOf<typeof paperTriggerOrders>>;
export type PaperPosition = Omit<RowOf<typeof paperPositions>, Owned>;
export type PaperFill = Omit<RowOf<typeof paperFills>, Owned | 'id' | 'orderId'> & { order: PaperOrder };

export type PositionMode = PaperOrder['positionMode'];
export type MarginMode = PaperOrder['marginMode'];
export type Side = PaperOrder['side'];
export type PlanType = PaperTrigger['planType'];
export type WholePlan = Extract<PlanType, 'pos_loss' | 'pos_profit'>;

export interface TokenBook {
  token: string;
  leverage: number;
  marginMode: MarginMode;
  /** The mode set for this token only; null: the account's mode. */
  positionMode: PositionMode | null;
  markCursor: string | null;
  position: PaperPosition | null;
  /** Pending at the start of the transaction, or placed or closed during it. */
  orders: PaperOrder[];
  triggers: PaperTrigger[];
  /** Created during this transaction. */
  fills: PaperFill[];
}

export interface OrderOfToken {
  token: string;
  order: PaperOrder;
}

export const isPending = (order: PaperOrder) => order.state === 'live' || order.state === 'partially_filled';

export const hasBusiness = (book: TokenBook) => book.position !== null || book.orders.some(isPending);

export const positionModeOf = (account: AccountBook, book: TokenBook) =>
  book.positionMode ?? account.positionMode;

export const marginModeOf = (account: AccountBook, book: TokenBook) => account.marginMode ?? book.marginMode;

export const remainingSize = (order: PaperOrder) => order.size.minus(order.filledSize);

export const sideOf = (order: Pick<PaperOrder, 'side'>) => (order.side === 'buy' ? 'long' : 'short');

export const liveTrigger = (book: TokenBook, planType: PlanType) =>
  book.triggers.find((trigger) => trigger.planType === planType && trigger.state === 'live') ?? null;

/** Whether a plan is a stop or a target: one with a size of its own acts like the one of the whole position. */
export function kindOfPlan(planType: PlanType): WholePlan {
  if (planType === 'loss_plan') return 'pos_loss';
  return planType === 'profit_plan' ? 'pos_profit' : planType;
}

export const unrealisedProfit = (position: PaperPosition, mark: Decimal) =>
  mark
    .minus(position.entryPrice)
    .times(position.size)
    .times(position.side === 'long' ? 1 : -1);

export const sum = (values: Iterable<Decimal>) =>
  [...values].reduce((total, value) => total.plus(value), D(0));

export interface AccountBalances {
  /** Free for new orders. */
  available: Decimal;
  /** Held for resting orders: their margin and the taker fee for filling them. */
  locked: Decimal;
  /** Held by open positions. */
  margin: Decimal;
  unrealisedProfit: Decimal;
  equity: Decimal;
}

/**
 * Balances computed from the account's rows. `markOf` returns a token's mark, or null to value the position at its
 * entry.
 */
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

/** The amount that a pending order locks at its own price. */
export function lockedBy(book: TokenBook, order: PaperOrder): Decimal {
  return order.price ? costOf(book, order, order.price) : D(0);
}

/** Margin plus taker fee, at `price`, for the part of the order that exceeds the position it reduces. */
export function costOf(book: TokenBook, order: PaperOrder, price: Decimal): Decimal {
  if (order.reduceOnly) return D(0);
  const opposed = book.position && book.position.side !== sideOf(order) ? book.position.size : D(0);
  const remaining = remainingSize(order);
  const opening = remaining.lte(opposed) ? D(0) : remaining.minus(opposed);
  const value = opening.times(price);
  return value.div(order.leverage).plus(value.times(TAKER_FEE));
}
