import { drizzle } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import { isUnanswered } from '../errors-unavailable.ts';
import type { Db } from './database.ts';

/**
 * Drizzle over a pool, with transactions of our own: Drizzle's never gives a connection back whose BEGIN failed, so
 * every outage of the database would cost the pool connections for good.
 *
 * `prepares`: each connection has a statement parsed and planned once, which is a quarter of what the database spends on
 * a short one. For who runs the same statements all the time, by keys; a list with filters is better planned for the
 * values that it gets.
 */
export function drizzleOver(pool: pg.Pool, { prepares = false }: { prepares?: boolean } = {}): Db {
  const over = prepares
    ? createPreparing()
    : <Client extends pg.Pool | pg.PoolClient>(client: Client) => client;
  const db: Db = drizzle(over(pool));
  db.transaction = async (work, config) => {
    const client = await pool.connect();
    // The pool listens to idle connections only. Between two statements nobody else hears that this one ended, and
    // an error that nobody hears ends the program; the next statement fails anyway.
    client.on('error', ignore);
    let isSilent = false;
    try {
      return await drizzle(over(client)).transaction(work, config);
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

/** A statement has one name on all connections. What is made up of values of many lengths must not fill their memory. */
const MOST_STATEMENTS = 500;

function createPreparing(): <Client extends pg.Pool | pg.PoolClient>(client: Client) => Client {
  const names = new Map<string, string>();
  const nameOf = (text: string): string | undefined => {
    if (!names.has(text) && names.size < MOST_STATEMENTS) names.set(text, `engine-${names.size + 1}`);
    return names.get(text);
  };
  const named = (config: unknown, values: unknown): unknown => {
    const isStatement = typeof config === 'object' && config !== null && 'text' in config;
    if (!isStatement || !Array.isArray(values) || values.length === 0) return config;
    const name = nameOf(String(config.text));
    return name === undefined ? config : { ...config, name };
  };
  return (client) =>
    new Proxy(client, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        if (property !== 'query') return value.bind(target);
        return (config: unknown, values: unknown, ...rest: unknown[]) =>
          value.call(target, named(config, values), values, ...rest);
      },
    });
}
