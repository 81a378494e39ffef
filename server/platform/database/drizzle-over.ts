import { drizzle } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import type { Db } from './database.ts';

/**
 * Drizzle over a pool, with transactions of our own: Drizzle's never gives a connection back whose BEGIN failed, so
 * every outage of the database would cost the pool connections for good.
 */
export function drizzleOver(pool: pg.Pool): Db {
  const db: Db = drizzle(pool);
  db.transaction = async (work, config) => {
    const client = await pool.connect();
    // The pool listens to idle connections only. Between two statements nobody else hears that this one ended, and
    // an error that nobody hears ends the program; the next statement fails anyway.
    client.on('error', ignore);
    let failure: Error | undefined;
    try {
      return await drizzle(client).transaction(work, config);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      const usable = failure === undefined || (await isUsable(client));
      client.off('error', ignore);
      client.release(usable ? undefined : failure);
    }
  };
  return db;
}

const ignore = () => {};

/** After a failed transaction: whether its rollback went through. If not, the connection must go. */
async function isUsable(client: pg.PoolClient): Promise<boolean> {
  try {
    const { rows } = await client.query<{ open: boolean }>(
      'select pg_current_xact_id_if_assigned() is not null as open',
    );
    return rows[0]?.open === false;
  } catch {
    return false;
  }
}
