import { sql } from 'drizzle-orm';
import type { Db } from '#server/platform/db/database.ts';

/** How many connections to this database wait until somebody else's transaction is over. */
export async function countWaitingForLocks(db: Db): Promise<number> {
  const { rows } = await db.execute<{ count: number }>(sql`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`);
  return rows[0]?.count ?? 0;
}
