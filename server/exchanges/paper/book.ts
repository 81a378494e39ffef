import { D, type Decimal } from '#domain/decimal.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';

/** Whose books: a user has an account of its own on each platform. */
export interface BookOwner {
  userId: string;
  platform: ExchangePlatform;
}

/** The state of one paper account while a transaction holds its row lock. Amounts are Decimals; quantities in the base coin. */
export interface AccountBook extends BookOwner {
  balance: Decimal;
  realisedProfit: Decimal;
  feesPaid: Decimal;
  positionMode: PositionMode;
  /** Where the whole account has one (Bybit); null where each token has its own (Bitget). */
  marginMode: MarginMode | null;
  tokens: Map<string, TokenBook>;
}

export type PositionMode = 'one_way_mode' | 'hedge_mode';
export type MarginMode = 'isolated' | 'crossed';
export type Side = 'buy' | 'sell';
export type PlanType = 'pos_loss' | 'pos_profit';

export interface TokenBook {
  token: string;
  leverage: number;
  marginMode: MarginMode;
  /** Where it was set for this token alone; null: the account's. */
  positionMode: PositionMode | null;
  markCursor: string | null;
  position: PaperPosition | null;
  /** Pending at the start of the transaction, or placed or closed within it. */
  orders: PaperOrder[];
  triggers: PaperTrigger[];
  /** Made within this transaction. */
  fills: PaperFill[];
}

export interface PaperPosition {
  side: 'long' | 'short';
  size: Decimal;
  entryPrice: Decimal;
  margin: Decimal;
  leverage: number;
  marginMode: MarginMode;
  realisedProfit: Decimal;
  openedAt: Date;
  updatedAt: Date;
}

export interface PaperOrder {
  /** Null until it is stored. */
  id: bigint | null;
  clientOrderId: string;
  side: Side;
  type: 'limit' | 'market';
  reduceOnly: boolean;
  price: Decimal | null;
  size: Decimal;
  filledSize: Decimal;
  filledValue: Decimal;
  fee: Decimal;
  profit: Decimal;
  leverage: number;
  marginMode: MarginMode;
  positionMode: PositionMode;
  presetStopLoss: Decimal | null;
  presetTakeProfit: Decimal | null;
  state: 'live' | 'partially_filled' | 'filled' | 'canceled';
  source: 'normal' | PlanType | 'liquidation';
  createdAt: Date;
  updatedAt: Date;
}

export interface OrderOfToken {
  token: string;
  order: PaperOrder;
}

export interface PaperTrigger {
  id: bigint | null;
  clientOrderId: string;
  planType: PlanType;
  holdSide: 'long' | 'short';
  triggerPrice: Decimal;
  size: Decimal;
  state: 'live' | 'executed' | 'cancelled';
  createdAt: Date;
  updatedAt: Date;
}

export interface PaperFill {
  order: PaperOrder;
  side: Side;
  price: Decimal;
  size: Decimal;
  value: Decimal;
  fee: Decimal;
  profit: Decimal;
  liquidity: 'maker' | 'taker';
  at: Date;
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

export const unrealisedProfit = (position: PaperPosition, mark: Decimal) =>
  mark
    .minus(position.entryPrice)
    .times(position.size)
    .times(position.side === 'long' ? 1 : -1);

export const sum = (values: Iterable<Decimal>) =>
  [...values].reduce((total, value) => total.plus(value), D(0));
