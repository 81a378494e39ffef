import { and, asc, inArray, sql } from 'drizzle-orm';
import { union } from 'drizzle-orm/pg-core';
import { D, type Decimal } from '#domain/decimal.ts';
import type { Statements } from '#server/platform/db/database.ts';
import type { BookOwner, OrderOfToken } from './book.ts';
import { paperFills, paperOrders, paperPositions } from './paper-schema.ts';
import { isOf, isPendingRow } from './paper-store.ts';
import { type RowOf, rowOfSelected, unowned } from './row-texts.ts';

export type StoredFill = RowOf<typeof paperFills>;

/** Every fill of the account, oldest first. */
export async function listFills(db: Statements, owner: BookOwner): Promise<StoredFill[]> {
  const fills = await db.select().from(paperFills).where(isOf(paperFills, owner)).orderBy(asc(paperFills.id));
  return fills.map((fill) => rowOfSelected(paperFills, fill));
}

/** Every closed position of the account, in the order of closing. */
export async function listClosedPositions(db: Statements, owner: BookOwner): Promise<PastPosition[]> {
  return closedPositions(await listFills(db, owner));
}

/** The account's orders with these ids. The ids are passed as one parameter: a statement takes at most 65,535. */
export async function ordersById(
  db: Statements,
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
  return new Map(
    rows.map((row) => [row.id, { token: row.token, order: unowned(rowOfSelected(paperOrders, row)) }]),
  );
}

/** The books that new prices of the tokens may affect, by token: two index look-ups. */
export async function booksWithOpenBusiness(
  db: Statements,
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

/** A position from its first fill until it was flat again. */
export interface PastPosition {
  id: bigint;
  token: string;
  side: 'long' | 'short';
  openedSize: Decimal;
  openedValue: Decimal;
  closedSize: Decimal;
  closedValue: Decimal;
  profit: Decimal;
  openFee: Decimal;
  closeFee: Decimal;
  /** The order that closed the last part. */
  closedBy: bigint;
  openedAt: Date;
  closedAt: Date;
}

/** Derives the closed positions from an account's fills (oldest first), so that they are not stored twice. */
export function closedPositions(fills: Iterable<StoredFill>): PastPosition[] {
  const open = new Map<string, PastPosition>();
  const closed: PastPosition[] = [];
  for (const fill of fills) {
    const held = open.get(fill.token);
    const side = fill.side === 'buy' ? 'long' : 'short';
    if (!held || held.side === side) {
      open.set(fill.token, opened(held ?? newPosition(fill, side), fill, fill.size));
      continue;
    }
    const left = held.openedSize.minus(held.closedSize);
    const closing = fill.size.gt(left) ? left : fill.size;
    held.closedSize = held.closedSize.plus(closing);
    held.closedValue = held.closedValue.plus(closing.times(fill.price));
    held.profit = held.profit.plus(fill.profit);
    held.closeFee = held.closeFee.plus(feeOf(fill, closing));
    held.closedAt = fill.createdAt;
    held.closedBy = fill.orderId;
    if (closing.lt(left)) continue;
    open.delete(fill.token);
    closed.push(held);
    // The rest of the fill opened the opposite position.
    if (closing.lt(fill.size)) {
      open.set(fill.token, opened(newPosition(fill, side), fill, fill.size.minus(closing)));
    }
  }
  return closed;
}

function opened(position: PastPosition, fill: StoredFill, size: Decimal): PastPosition {
  return {
    ...position,
    openedSize: position.openedSize.plus(size),
    openedValue: position.openedValue.plus(size.times(fill.price)),
    openFee: position.openFee.plus(feeOf(fill, size)),
  };
}

/** The fee is proportional to the value, so a part of the fill bears its share of the fee. */
const feeOf = (fill: StoredFill, size: Decimal) => fill.fee.times(size).div(fill.size);

const newPosition = (
  { id, orderId, token, createdAt }: StoredFill,
  side: PastPosition['side'],
): PastPosition => ({
  id,
  token,
  side,
  openedSize: D(0),
  openedValue: D(0),
  closedSize: D(0),
  closedValue: D(0),
  profit: D(0),
  openFee: D(0),
  closeFee: D(0),
  closedBy: orderId,
  openedAt: createdAt,
  closedAt: createdAt,
});
