import { and, count, desc, eq, gt, lte, type SQL, sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/database/database.ts';
import { priceLogs } from '#server/platform/database/schema.ts';

export type PriceLogRow = typeof priceLogs.$inferSelect;

export interface PriceLogFilter {
  token?: string | undefined;
  timeframe?: string | undefined;
  processor?: string | undefined;
  until?: Date | undefined;
}

/** One page, newest first, and how many rows the filter matches. */
export async function listPriceLogs(
  db: Queryable,
  options: { filter: PriceLogFilter; page: number; limit: number },
): Promise<{ rows: PriceLogRow[]; total: number }> {
  const { filter, page, limit } = options;
  const where = and(
    ...[
      filter.token === undefined ? undefined : eq(priceLogs.token, filter.token),
      filter.timeframe === undefined ? undefined : eq(priceLogs.timeframe, filter.timeframe),
      filter.processor === undefined ? undefined : eq(priceLogs.processor, filter.processor),
      filter.until === undefined ? undefined : lte(priceLogs.receivedAt, filter.until),
    ].filter((one): one is SQL => one !== undefined),
  );
  const rows = await db
    .select()
    .from(priceLogs)
    .where(where)
    .orderBy(desc(priceLogs.receivedAt), desc(priceLogs.id))
    .limit(limit)
    .offset((page - 1) * limit);
  const [counted] = await db.select({ total: count() }).from(priceLogs).where(where);
  return { rows, total: counted?.total ?? 0 };
}

export async function findPriceLogByHash(db: Queryable, hashValue: string): Promise<PriceLogRow | null> {
  const [row] = await db.select().from(priceLogs).where(eq(priceLogs.hashValue, hashValue));
  return row ?? null;
}

export async function findPriceLog(db: Queryable, id: string): Promise<PriceLogRow | null> {
  const [row] = await db.select().from(priceLogs).where(eq(priceLogs.id, id));
  return row ?? null;
}

/**
 * The price logs that may belong to a signal, newest candle first: same token, from the signal's own webhook or an
 * administrator's, with a candle time inside the window. Timeframe and processor are compared by the domain.
 */
export async function findCandidates(
  db: Queryable,
  options: { token: string; hookId: string; notBefore: Date; notAfter: Date },
): Promise<PriceLogRow[]> {
  const { token, hookId, notBefore, notAfter } = options;
  return await db
    .select()
    .from(priceLogs)
    .where(
      and(
        eq(priceLogs.token, token),
        sql`${priceLogs.candleTimeServer} between ${notBefore} and ${notAfter}`,
        sql`(${priceLogs.hookId} = ${hookId} or ${priceLogs.fromAdmin})`,
      ),
    )
    .orderBy(desc(priceLogs.candleTimeServer), desc(priceLogs.id))
    .limit(1000);
}

type ListedColumn = 'token' | 'timeframe' | 'processor';

/** The values that occur in a column, in order. */
export async function listPriceLogValues(db: Queryable, column: ListedColumn): Promise<string[]> {
  const field = priceLogs[column];
  const rows = await db.selectDistinct({ value: field }).from(priceLogs).where(gt(field, '')).orderBy(field);
  return rows.flatMap(({ value }) => (value === null ? [] : [value]));
}
