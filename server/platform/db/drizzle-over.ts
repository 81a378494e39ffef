import { drizzle } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import { isUnanswered } from '../http/errors-unavailable.ts';
import type { Db, Queryable, Statements } from './database.ts';

/**
 * Drizzle over a pool whose connections take the next statement before the last one is answered (`pipeline`), with
 * transactions of our own: Drizzle's never gives a connection back whose BEGIN failed, so every outage of the database
 * would cost the pool connections for good.
 *
 * BEGIN goes out together with what follows it, and so do statements that are awaited `together`. A statement that comes
 * after the transaction's end, because another one of those had failed, is refused: it would stand by itself.
 */
export function drizzleOver(pool: pg.Pool): Db {
  const db: Db = drizzle(pool);
  db.transaction = (work, config) =>
    withClient(pool, (client) => drizzle(transactionOn(client)).transaction(work, config));
  return db;
}

/**
 * Statements of which each stands by itself, and that run one after the other all the same: awaited `together` they take
 * one way to the database and back, and each sees what those before it have committed.
 */
export const onOneConnection = <Result>(
  db: Db,
  work: (connection: Queryable) => Promise<Result>,
): Promise<Result> => withClient(db.$client, (client) => work(drizzle(client)));

async function withClient<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let isSilent = false;
  try {
    return await work(client);
  } catch (error) {
    isSilent = isUnanswered(error);
    throw error;
  } finally {
    // One that is still inside a transaction, since its ROLLBACK did not get through, must not serve the next; nor
    // one that still owes an answer, whose BEGIN may be what it owes.
    client.release(isSilent || client.getTransactionStatus() !== 'I');
  }
}

const ignore = () => {};

/** What the COMMIT of a transaction goes out with, by its connection. */
const lastStatements = new WeakMap<object, Promise<unknown>[]>();

/**
 * Leaves statements of a transaction, which have been begun, to its COMMIT: that goes out together with them and waits
 * for them. For those whose answers decide nothing any more. If one fails, the database makes of the COMMIT a rollback,
 * and the transaction throws what failed.
 */
export function withCommit(tx: Statements, ...statements: Promise<unknown>[]): void {
  const last = lastStatements.get(clientOf(tx));
  if (last === undefined) throw new Error('These statements are of no transaction');
  for (const statement of statements) statement.catch(ignore);
  last.push(...statements);
}

const clientOf = (statements: Statements): pg.Pool | pg.PoolClient =>
  (statements._.session as unknown as { client: pg.Pool | pg.PoolClient }).client;

/** Without a name it is parsed and planned each time. */
export interface NamedStatement {
  name?: string | undefined;
  text: string;
  values: unknown[];
}

/**
 * Runs a statement that each connection parses, and mostly plans, once: for what runs all the time. Drizzle itself gives
 * names to what its builders make only.
 */
export const runNamed = <Row extends pg.QueryResultRow>(
  db: Statements,
  statement: NamedStatement,
): Promise<pg.QueryResult<Row>> => clientOf(db).query<Row>(statement);

type Statement = string | { text: string };

/**
 * The connection for the length of a transaction. Nobody waits for BEGIN, but COMMIT does: one that failed has left the
 * statements outside of any transaction, which must be heard of.
 */
function transactionOn(client: pg.PoolClient): pg.PoolClient {
  let begun: Promise<unknown> = Promise.resolve();
  let isOver = false;
  const last: Promise<unknown>[] = [];
  const query = async (statement: Statement, ...rest: unknown[]): Promise<unknown> => {
    const text = typeof statement === 'string' ? statement : statement.text;
    if (isOver && text !== 'rollback') throw new Error(`The transaction is over: ${text}`);
    isOver ||= text === 'commit' || text === 'rollback';
    const answer = Reflect.apply(client.query, client, [statement, ...rest]) as Promise<unknown>;
    if (text === 'commit') return await whenAllWorked(answer, [begun, ...last]);
    if (!/^begin\b/i.test(text)) return await answer;
    begun = answer;
    begun.catch(ignore);
    return undefined;
  };
  const connection = new Proxy(client, {
    get: (target, property) => (property === 'query' ? query : Reflect.get(target, property)),
  });
  lastStatements.set(connection, last);
  return connection;
}

/** The first of them that failed says why the COMMIT was none. */
async function whenAllWorked(commit: Promise<unknown>, before: Promise<unknown>[]): Promise<unknown> {
  const ends = await Promise.allSettled([...before, commit]);
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const { command } = (await commit) as { command: string };
  // What failed was caught on the way.
  if (command !== 'COMMIT') throw new Error('A statement of the transaction had failed: it was rolled back');
  return commit;
}
