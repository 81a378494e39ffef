import { and, asc, between, desc, eq, inArray, lt, type SQL, sql } from 'drizzle-orm';
import { union } from 'drizzle-orm/pg-core';
import type { BookOwner, PaperOrder } from './book.ts';
import type { PaperDatabase } from './paper-database.ts';
import { orderFromRow } from './paper-rows.ts';
import { paperFills, paperOrders, paperPositions } from './paper-schema.ts';
import { isOf, isPendingRow } from './paper-store.ts';

/** One order by the exchange's id or the client's. */
export interface OrderHandle {
  orderId?: bigint;
  clientOrderId?: string;
}

export interface OrderOfToken {
  token: string;
  order: PaperOrder;
}

export type StoredFill = typeof paperFills.$inferSelect;

const byHandle = ({ orderId, clientOrderId }: OrderHandle) =>
  orderId === undefined ? eq(paperOrders.clientOrderId, clientOrderId ?? '') : eq(paperOrders.id, orderId);

/** One order of the account, pending or done; the newest when a client's id was used again. */
export async function findStoredOrder(
  db: PaperDatabase,
  query: OrderHandle & { owner: BookOwner; token: string },
): Promise<PaperOrder | null> {
  const [row] = await db
    .select()
    .from(paperOrders)
    .where(and(isOf(paperOrders, query.owner), eq(paperOrders.token, query.token), byHandle(query)))
    .orderBy(desc(paperOrders.id))
    .limit(1);
  return row ? orderFromRow(row) : null;
}

export interface EndedOrdersQuery {
  owner: BookOwner;
  /** Null: of every token. */
  token: string | null;
  handle?: OrderHandle | null;
  /** When they were created. */
  period?: { from: Date; to: Date } | null;
  before?: bigint | null;
  limit: number;
}

/** Orders of the account that have ended, newest first. */
export async function listEndedOrders(db: PaperDatabase, query: EndedOrdersQuery): Promise<OrderOfToken[]> {
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
  return rows.map((row) => ({ token: row.token, order: orderFromRow(row) }));
}

export async function newestFills(
  db: PaperDatabase,
  query: { owner: BookOwner; token: string | null; limit: number },
): Promise<StoredFill[]> {
  const mine = isOf(paperFills, query.owner);
  return db
    .select()
    .from(paperFills)
    .where(query.token === null ? mine : and(mine, eq(paperFills.token, query.token)))
    .orderBy(desc(paperFills.id))
    .limit(query.limit);
}

/** Every fill of the account, oldest first. */
export async function listFills(db: PaperDatabase, owner: BookOwner): Promise<StoredFill[]> {
  return db.select().from(paperFills).where(isOf(paperFills, owner)).orderBy(asc(paperFills.id));
}

/** Every order of the account by its id: what its fills belong to. The ids are one value, however many there are. */
export async function ordersById(
  db: PaperDatabase,
  owner: BookOwner,
  ids: bigint[],
): Promise<Map<bigint, OrderOfToken>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select()
    .from(paperOrders)
    .where(
      and(isOf(paperOrders, owner), sql`${paperOrders.id} = any(${sql.param(ids.map(String))}::bigint[])`),
    );
  return new Map(rows.map((row) => [row.id, { token: row.token, order: orderFromRow(row) }]));
}

/** Whose books new prices of the tokens may concern, by token: two index look-ups, cheap when there are none. */
export async function booksWithOpenBusiness(
  db: PaperDatabase,
  tokens: readonly string[],
): Promise<Map<string, BookOwner[]>> {
  const resting = db
    .select({ token: paperOrders.token, userId: paperOrders.userId, platform: paperOrders.platform })
    .from(paperOrders)
    .where(and(inArray(paperOrders.token, [...tokens]), isPendingRow));
  const holding = db
    .select({ token: paperPositions.token, userId: paperPositions.userId, platform: paperPositions.platform })
    .from(paperPositions)
    .where(inArray(paperPositions.token, [...tokens]));
  const rows = await union(resting, holding);
  return Map.groupBy(rows, ({ token }) => token);
}
