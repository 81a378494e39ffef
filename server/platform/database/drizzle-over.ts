import { drizzle } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import { isUnanswered } from '../errors-unavailable.ts';
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
    let isSilent = false;
    try {
      return await drizzle(client).transaction(work, config);
    } catch (error) {
      isSilent = isUnanswered(error);
      throw error;
    } finally {
      client.off('error', ignore);
      // One that is still inside a transaction, since its ROLLBACK did not get through, must not serve the next; nor
      // one that still owes an answer, whose BEGIN may be what it owes.
      client.release(isSilent || client.getTransactionStatus() !== 'I');
    }
  };
  return db;
}

const ignore = () => {};
