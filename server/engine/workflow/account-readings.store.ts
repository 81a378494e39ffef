import { and, eq, gte, lt, sql } from 'drizzle-orm';
import type { Db, Queryable } from '#server/platform/db/database.ts';
import { insertRows, isOneOf } from '#server/platform/db/json-rows.ts';
import { accountReadings, positionCloses, trades } from '#server/platform/db/schema.ts';

export type AccountReading = typeof accountReadings.$inferSelect;

/** Instances' clocks differ by less than this. */
const CLOCK_SLACK = sql`interval '5 seconds'`;
const KEPT_MS = 60 * 60_000;

const isOfAccount = (table: typeof trades | typeof positionCloses) =>
  and(eq(table.userId, accountReadings.userId), eq(table.exchangePlatform, accountReadings.exchangePlatform));
const isLater = (table: typeof trades | typeof positionCloses) =>
  sql`${table.createdAt} >= ${accountReadings.readAt} - ${CLOCK_SLACK}`;

/** Stores readings, except those of accounts with an order at work: what it does next may be missing. */
export async function storeReadings(db: Db, readings: readonly AccountReading[]): Promise<void> {
  if (readings.length === 0) return;
  const newest = readings.reduce((latest, { readAt }) => Math.max(latest, readAt.getTime()), 0);
  await db.transaction(async (tx) => {
    await tx.delete(accountReadings).where(lt(accountReadings.readAt, new Date(newest - KEPT_MS)));
    await tx.execute(
      insertRows(
        accountReadings,
        readings,
        sql`on conflict (user_id, exchange_platform, token) do update
          set account_id = excluded.account_id, futures_available = excluded.futures_available,
            read_at = excluded.read_at`,
      ),
    );
    await tx.execute(sql`
      delete from ${accountReadings} where exists (
        select from ${trades} where ${isOfAccount(trades)} and ${trades.state} <> 'done')`);
  });
}

/**
 * Readings of these users in the token since this instant, of accounts without an order at work, and for which nothing
 * was ordered or closed since they were read.
 */
export function listUsableReadings(
  db: Queryable,
  { userIds, token, since }: { userIds: readonly string[]; token: string; since: Date },
): Promise<AccountReading[]> {
  return db
    .select()
    .from(accountReadings)
    .where(
      and(
        isOneOf(accountReadings.userId, userIds),
        eq(accountReadings.token, token),
        gte(accountReadings.readAt, since),
        sql`not exists (
          select from ${trades}
          where ${isOfAccount(trades)} and (${trades.state} <> 'done' or ${isLater(trades)}))`,
        sql`not exists (
          select from ${positionCloses}
          where ${isOfAccount(positionCloses)}
            and (${positionCloses.state} in ('submitting', 'sent') or ${isLater(positionCloses)}))`,
      ),
    );
}
