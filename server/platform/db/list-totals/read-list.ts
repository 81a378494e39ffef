import { and, type InferSelectModel, inArray, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Queryable } from '#server/platform/db/database.ts';
import { priceLogs, signals, workflows } from '#server/platform/db/schema.ts';
import { countList, type TimeRange } from './count-list.ts';
import { type CountedList, LIST_SHAPES, type ListFilter, matching } from './counted-lists.ts';

const TABLES = { signals, 'price-logs': priceLogs, workflows };

interface ListOptions extends TimeRange {
  filter: ListFilter;
  /** Newest first unless it is `asc`. */
  order?: 'asc' | 'desc';
  page: number;
  limit: number;
  now: Date;
}

/** One page of a list and the exact number of all rows that match, received in the range. */
export async function readList<List extends CountedList>(
  db: Queryable,
  list: List,
  options: ListOptions,
): Promise<{ rows: InferSelectModel<(typeof TABLES)[List]>[]; total: number }> {
  const { filter, from, until, order = 'desc', page, limit } = options;
  const total = await countList(db, list, options);
  const table: PgTable & { id: PgColumn } = TABLES[list];
  const { receivedAt } = LIST_SHAPES[list];
  const at = (moment: Date) => sql`${moment.toISOString()}::timestamptz`;
  const inRange = [from && sql`${receivedAt} >= ${at(from)}`, until && sql`${receivedAt} <= ${at(until)}`];
  const byTime = order === 'asc' ? sql`${receivedAt}, id` : sql`${receivedAt} desc, id desc`;
  // First the ids, from an index, then only their rows, from the partitions that the ids name.
  const shown = await db
    .select({ id: table.id })
    .from(table)
    .where(and(matching(filter), ...inRange))
    .orderBy(byTime)
    .limit(limit)
    .offset((page - 1) * limit);
  if (shown.length === 0) return { rows: [], total };
  const ids = shown.map(({ id }) => id);
  const rows = await db.select().from(table).where(inArray(table.id, ids)).orderBy(byTime);
  return { rows: rows as InferSelectModel<(typeof TABLES)[List]>[], total };
}
