import { D, type Decimal, toPlain } from '#domain/decimal.ts';
import type {
  AccountBook,
  BookOwner,
  MarginMode,
  PaperOrder,
  PaperPosition,
  PaperTrigger,
  PlanType,
  PositionMode,
  Side,
  TokenBook,
} from './book.ts';
import type { paperOrders, paperPositions, paperTriggerOrders } from './paper-schema.ts';

/* Books to rows and back. */

const text = (value: Decimal) => toPlain(value);
const textOrNull = (value: Decimal | null) => (value === null ? null : toPlain(value));
const decimalOrNull = (value: string | null) => (value === null ? null : D(value));

export const accountRow = (book: AccountBook) => ({
  balance: text(book.balance),
  realisedProfit: text(book.realisedProfit),
  feesPaid: text(book.feesPaid),
  positionMode: book.positionMode,
  marginMode: book.marginMode,
});

export const settingsRow = ({ leverage, marginMode, positionMode, markCursor }: TokenBook) => ({
  leverage,
  marginMode,
  positionMode,
  markCursor,
});

export const orderRow = (order: PaperOrder) => ({
  clientOrderId: order.clientOrderId,
  side: order.side,
  orderType: order.type,
  reduceOnly: order.reduceOnly,
  price: textOrNull(order.price),
  size: text(order.size),
  filledSize: text(order.filledSize),
  filledValue: text(order.filledValue),
  fee: text(order.fee),
  profit: text(order.profit),
  leverage: order.leverage,
  marginMode: order.marginMode,
  positionMode: order.positionMode,
  presetStopLoss: textOrNull(order.presetStopLoss),
  presetTakeProfit: textOrNull(order.presetTakeProfit),
  state: order.state,
  source: order.source,
  updatedAt: order.updatedAt,
});

export const orderFromRow = (row: typeof paperOrders.$inferSelect): PaperOrder => ({
  id: row.id,
  clientOrderId: row.clientOrderId,
  side: row.side as Side,
  type: row.orderType as PaperOrder['type'],
  reduceOnly: row.reduceOnly,
  price: decimalOrNull(row.price),
  size: D(row.size),
  filledSize: D(row.filledSize),
  filledValue: D(row.filledValue),
  fee: D(row.fee),
  profit: D(row.profit),
  leverage: row.leverage,
  marginMode: row.marginMode as MarginMode,
  positionMode: row.positionMode as PositionMode,
  presetStopLoss: decimalOrNull(row.presetStopLoss),
  presetTakeProfit: decimalOrNull(row.presetTakeProfit),
  state: row.state as PaperOrder['state'],
  source: row.source as PaperOrder['source'],
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

export const positionRow = (position: PaperPosition) => ({
  side: position.side,
  size: text(position.size),
  entryPrice: text(position.entryPrice),
  margin: text(position.margin),
  leverage: position.leverage,
  marginMode: position.marginMode,
  realisedProfit: text(position.realisedProfit),
  openedAt: position.openedAt,
  updatedAt: position.updatedAt,
});

export const positionFromRow = (row: typeof paperPositions.$inferSelect): PaperPosition => ({
  side: row.side as PaperPosition['side'],
  size: D(row.size),
  entryPrice: D(row.entryPrice),
  margin: D(row.margin),
  leverage: row.leverage,
  marginMode: row.marginMode as MarginMode,
  realisedProfit: D(row.realisedProfit),
  openedAt: row.openedAt,
  updatedAt: row.updatedAt,
});

export const triggerRow = (trigger: PaperTrigger) => ({
  clientOrderId: trigger.clientOrderId,
  planType: trigger.planType,
  holdSide: trigger.holdSide,
  triggerPrice: text(trigger.triggerPrice),
  size: text(trigger.size),
  state: trigger.state,
  updatedAt: trigger.updatedAt,
});

export const triggerFromRow = (row: typeof paperTriggerOrders.$inferSelect): PaperTrigger => ({
  id: row.id,
  clientOrderId: row.clientOrderId,
  planType: row.planType as PlanType,
  holdSide: row.holdSide as PaperTrigger['holdSide'],
  triggerPrice: D(row.triggerPrice),
  size: D(row.size),
  state: row.state as PaperTrigger['state'],
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

export function fillRow(owner: BookOwner, token: string, fill: TokenBook['fills'][number]) {
  if (fill.order.id === null) throw new Error('A fill needs a stored order');
  return {
    userId: owner.userId,
    platform: owner.platform,
    token,
    orderId: fill.order.id,
    side: fill.side,
    price: text(fill.price),
    size: text(fill.size),
    value: text(fill.value),
    fee: text(fill.fee),
    profit: text(fill.profit),
    liquidity: fill.liquidity,
    createdAt: fill.at,
  };
}
