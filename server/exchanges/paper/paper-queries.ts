import { and, asc, inArray, sql } from 'drizzle-orm';
import { union } from 'drizzle-orm/pg-core';
import { D } from '#domain/decimal.ts';
import type { BookOwner, OrderOfToken, Side } from './book.ts';
import type { PaperDatabase } from './paper-database.ts';
import { orderFromRow } from './paper-rows.ts';
import { paperFills, paperOrders, paperPositions } from './paper-schema.ts';
import { isOf, isPendingRow } from './paper-store.ts';
import { closedPositions, type HistoryFill, type PastPosition } from './position-history.ts';

export type StoredFill = typeof paperFills.$inferSelect;

/** Every fill of the account, oldest first. */
export async function listFills(db: PaperDatabase, owner: BookOwner): Promise<StoredFill[]> {
  return db.select().from(paperFills).where(isOf(paperFills, owner)).orderBy(asc(paperFills.id));
}

/** Every position of the account that was closed, in the order of their ends. */
export async function listClosedPositions(db: PaperDatabase, owner: BookOwner): Promise<PastPosition[]> {
  return closedPositions((await listFills(db, owner)).map(historyFill));
}

export const historyFill = (fill: StoredFill): HistoryFill => ({
  id: fill.id,
  orderId: fill.orderId,
  token: fill.token,
  side: fill.side as Side,
  price: D(fill.price),
  size: D(fill.size),
  fee: D(fill.fee),
  profit: D(fill.profit),
  at: fill.createdAt,
});

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
