import { and, type InferSelectModel, inArray, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Queryable } from '#server/platform/db/database.ts';

/** Reads one page of a list: the ids from an index, then only their rows, from the partitions that the ids name. */
export async function readPage<Table extends PgTable & { id: PgColumn }>(
  db: Queryable,
  options: { table: Table; where: (SQL | undefined)[]; order: SQL[]; page: number; limit: number },
): Promise<InferSelectModel<Table>[]> {
  const { where, order, page, limit } = options;
  const table: PgTable & { id: PgColumn } = options.table;
  const shown = await db
    .select({ id: table.id })
    .from(table)
    .where(and(...where))
    .orderBy(...order)
    .limit(limit)
    .offset((page - 1) * limit);
  if (shown.length === 0) return [];
  const ids = shown.map(({ id }) => id);
  const rows = await db
    .select()
    .from(table)
    .where(inArray(table.id, ids))
    .orderBy(...order);
  return rows as InferSelectModel<Table>[];
}
