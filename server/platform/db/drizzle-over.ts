import type { DrizzleConfig } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import type { Connection, Db, NamedStatement, Queryable, Statements, Tx } from './database.ts';
import { isUnanswered } from './database-errors.ts';

/**
 * Drizzle over a pool whose connections take the next statement before the last one is answered (`pipeline`), with
 * transactions of our own: Drizzle's never give back a connection whose BEGIN failed.
 */
export function drizzleOver(pool: pg.Pool, options: DrizzleConfig = {}): Db {
  const transaction: Transact = (work, config) =>
    withClient(pool, (client) => runTransaction(client, work, config));
  return Object.assign(drizzle(pool, options), { transaction });
}

/** The same over one connection. */
export function drizzleOn(client: pg.Client | pg.PoolClient): Queryable {
  const transaction: Transact = (work, config) => runTransaction(client, work, config);
  return Object.assign(drizzle(client), { transaction });
}

type Transact = Queryable['transaction'];

/** Statements that each commit by themselves, one after the other; awaited `together` they take one round trip. */
export const onOneConnection = <Result>(
  db: Db,
  work: (connection: Queryable) => Promise<Result>,
): Promise<Result> => withClient(db.$client, (client) => work(drizzleOn(client)));

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
    // Drop one that is still inside a transaction because its ROLLBACK did not get through, and one that still owes
    // an answer: it may be that of BEGIN.
    client.release(isSilent || client.getTransactionStatus() !== 'I');
  }
}

const ignore = () => {};

/**
 * BEGIN goes out together with what follows it, and so do statements that are awaited `together`. COMMIT waits for BEGIN:
 * when that failed, the statements were outside of any transaction.
 */
async function runTransaction<Result>(
  client: pg.ClientBase,
  work: (tx: Tx) => Promise<Result>,
  { isolationLevel }: Parameters<Transact>[1] = {},
): Promise<Result> {
  const connection = new TransactionConnection(client);
  const tx: Tx = Object.assign(drizzle(connection as unknown as pg.PoolClient), {
    $client: connection,
    transaction: <Part>(part: (tx: Tx) => Promise<Part>) => part(tx),
  });
  const begun = client.query(
    isolationLevel === undefined ? 'begin' : `begin isolation level ${isolationLevel}`,
  );
  begun.catch(ignore);
  try {
    const result = await work(tx);
    connection.isOver = true;
    await commit(client, [begun, ...connection.lastStatements]);
    return result;
  } catch (error) {
    connection.isOver = true;
    await client.query('rollback');
    throw error;
  }
}

class TransactionConnection implements Required<Connection> {
  readonly lastStatements: Promise<unknown>[] = [];
  isOver = false;
  readonly #client: pg.ClientBase;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  /** Refuses what comes after the end, because another statement had failed: it would stand by itself. */
  async query<Row extends pg.QueryResultRow>(statement: NamedStatement, values?: unknown[]) {
    if (this.isOver) throw new Error(`The transaction is over: ${statement.text}`);
    return await this.#client.query<Row>(statement, values);
  }
}

/** The first failure says why the transaction was not committed. */
async function commit(client: pg.ClientBase, before: Promise<unknown>[]): Promise<void> {
  const committed = client.query('commit');
  const ends = await Promise.allSettled([...before, committed]);
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  // The failure was caught on the way.
  if ((await committed).command !== 'COMMIT') {
    throw new Error('A statement of the transaction had failed: it was rolled back');
  }
}

/**
 * Leaves begun statements of a transaction to its COMMIT, which goes out together with them and waits for them: for
 * statements whose answers decide nothing. If one fails, the COMMIT is a rollback, and the transaction throws its error.
 */
export function withCommit(tx: Statements, ...statements: Promise<unknown>[]): void {
  const { lastStatements } = tx.$client;
  if (lastStatements === undefined) throw new Error('These statements are of no transaction');
  for (const statement of statements) statement.catch(ignore);
  lastStatements.push(...statements);
}

/** Runs a statement that each connection parses and mostly plans once; Drizzle names only what its builders make. */
export const runNamed = <Row extends pg.QueryResultRow>(
  db: Pick<Statements, '$client'>,
  statement: NamedStatement,
): Promise<pg.QueryResult<Row>> => db.$client.query<Row>(statement);
