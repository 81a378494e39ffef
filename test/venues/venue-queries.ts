import { and, between, desc, eq, inArray, lt, type SQL } from 'drizzle-orm';
import type { BookOwner, OrderOfToken, PaperOrder } from '#server/exchanges/paper/book.ts';
import type { StoredFill } from '#server/exchanges/paper/paper-queries.ts';
import { paperFills, paperOrders } from '#server/exchanges/paper/paper-schema.ts';
import { isOf } from '#server/exchanges/paper/paper-store.ts';
import { rowOfSelected, unowned } from '#server/exchanges/paper/row-texts.ts';
import type { Statements } from '#server/platform/db/database.ts';

/* Queries of the books that only exchange dialects need, not paper mode. */

/** Identifies an order by the exchange's id or the client's. */
export interface OrderHandle {
  orderId?: bigint;
  clientOrderId?: string;
}

const byHandle = ({ orderId, clientOrderId }: OrderHandle) =>
  orderId === undefined ? eq(paperOrders.clientOrderId, clientOrderId ?? '') : eq(paperOrders.id, orderId);

const orderOfRow = (row: typeof paperOrders.$inferSelect): PaperOrder =>
  unowned(rowOfSelected(paperOrders, row));

export const matches = (order: PaperOrder, { orderId, clientOrderId }: OrderHandle) =>
  orderId === undefined ? order.clientOrderId === clientOrderId : order.id === orderId;

/** One order of the account, pending or ended; the newest one if a client order id was reused. */
export async function findStoredOrder(
  db: Statements,
  query: OrderHandle & { owner: BookOwner; token: string },
): Promise<PaperOrder | null> {
  const [row] = await db
    .select()
    .from(paperOrders)
    .where(and(isOf(paperOrders, query.owner), eq(paperOrders.token, query.token), byHandle(query)))
    .orderBy(desc(paperOrders.id))
    .limit(1);
  return row ? orderOfRow(row) : null;
}

/** Like `findStoredOrder`, in whichever token the order is. */
export async function findOwnStoredOrder(
  db: Statements,
  query: OrderHandle & { owner: BookOwner },
): Promise<OrderOfToken | null> {
  const [row] = await db
    .select()
    .from(paperOrders)
    .where(and(isOf(paperOrders, query.owner), byHandle(query)))
    .orderBy(desc(paperOrders.id))
    .limit(1);
  return row ? { token: row.token, order: orderOfRow(row) } : null;
}

export interface EndedOrdersQuery {
  owner: BookOwner;
  /** Null: all tokens. */
  token: string | null;
  handle?: OrderHandle | null;
  /** Creation time of the orders. */
  period?: { from: Date; to: Date } | null;
  before?: bigint | null;
  limit: number;
}

/** Ended orders of the account, newest first. */
export async function listEndedOrders(db: Statements, query: EndedOrdersQuery): Promise<OrderOfToken[]> {
  const { owner, token, handle, period, before, limit } = query;
  const conditions: (SQL | undefined)[] = [
    isOf(paperOrders, owner),
    inArray(paperOrders.state, ['filled', 'canceled']),
    token === null ? undefined : eq(paperOrders.token, token),
    handle ? byHandle(handle) : undefined,
    period ? between(paperOrders.createdAt, period.from, period.to) : undefined,
    before ? lt(paperOrders.id, before) : undefined,
  ];
  const rows = await db
    .select()
    .from(paperOrders)
    .where(and(...conditions))
    .orderBy(desc(paperOrders.id))
    .limit(limit);
  return rows.map((row) => ({ token: row.token, order: orderOfRow(row) }));
}

export async function newestFills(
  db: Statements,
  query: { owner: BookOwner; token: string | null; limit: number },
): Promise<StoredFill[]> {
  const mine = isOf(paperFills, query.owner);
  const fills = await db
    .select()
    .from(paperFills)
    .where(query.token === null ? mine : and(mine, eq(paperFills.token, query.token)))
    .orderBy(desc(paperFills.id))
    .limit(query.limit);
  return fills.map((fill) => rowOfSelected(paperFills, fill));
}
