import { and, desc, eq, sql } from 'drizzle-orm';
import type { PriceLogCandidate } from '#domain/sizing/price-log-match.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { priceLogHashes, priceLogs } from '#server/platform/db/schema.ts';

export type PriceLogRow = typeof priceLogs.$inferSelect;

/** Reads the row by its id, which names the partition. */
export async function findPriceLogByHash(db: Queryable, hashValue: string): Promise<PriceLogRow | null> {
  const hash = Buffer.from(hashValue, 'hex');
  const [holder] = await db.select().from(priceLogHashes).where(eq(priceLogHashes.hashValue, hash));
  return holder === undefined ? null : await findPriceLog(db, holder.priceLogId);
}

export async function findPriceLog(db: Queryable, id: string): Promise<PriceLogRow | null> {
  const [row] = await db.select().from(priceLogs).where(eq(priceLogs.id, id));
  return row ?? null;
}

/**
 * The price logs that may belong to a signal, best first: same token, a timeframe in one of these spellings (null:
 * any), from the signal's webhook or an administrator's, with a candle time in the window. Reads only the columns that
 * the domain compares: a thousand whole rows are more than a megabyte.
 */
export async function findCandidates(
  db: Queryable,
  options: {
    token: string;
    timeframes: readonly string[] | null;
    hookId: string;
    notBefore: Date;
    notAfter: Date;
    offset: number;
    limit: number;
  },
): Promise<PriceLogCandidate[]> {
  const { token, timeframes, hookId, notBefore, notAfter, offset, limit } = options;
  return await db
    .select({
      id: priceLogs.id,
      token: priceLogs.token,
      timeframe: priceLogs.timeframe,
      processor: priceLogs.processor,
      candleTime: priceLogs.candleTimeServer,
      receivedAt: priceLogs.receivedAt,
      hookId: priceLogs.hookId,
      fromAdmin: priceLogs.fromAdmin,
    })
    .from(priceLogs)
    .where(
      and(
        eq(priceLogs.token, token),
        // One array: the same prepared statement for any number of timeframes.
        timeframes === null
          ? undefined
          : sql`${priceLogs.timeframe} = any(${sql.param([...timeframes])}::text[])`,
        sql`${priceLogs.candleTimeServer} between ${notBefore} and ${notAfter}`,
        sql`(${priceLogs.hookId} = ${hookId} or ${priceLogs.fromAdmin})`,
      ),
    )
    .orderBy(desc(priceLogs.candleTimeServer), desc(priceLogs.receivedAt), desc(priceLogs.id))
    .offset(offset)
    .limit(limit);
}
