import { sql } from 'drizzle-orm';
import type { Db } from '#server/platform/db/database.ts';

/** Takes all rows out, so that the next run of the same engine finds nothing of the last one. */
export async function emptyDatabase(db: Db): Promise<void> {
  const { rows } = await db.execute<{ name: string }>(
    sql`select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  );
  await db.transaction(async (tx) => {
    // Neither the order of the tables nor who listens for changes matters here.
    await tx.execute(sql`set local session_replication_role = replica`);
    for (const { name } of rows) await tx.execute(sql.raw(`delete from ${name}`));
  });
}
