import type { DrizzleConfig } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import type { Connection, Db, NamedStatement, Queryable, Statements, Tx } from './database.ts';
import { isUnanswered } from './database-errors.ts';

/**
 * Drizzle over a pool whose connections take the next statement before the last one is answered (`pipeline`), with
 * custom transactions: Drizzle's never release a connection whose BEGIN failed.
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

/** Runs statements that each commit on their own, in order; awaited `together`, they take one round trip. */
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
    // Drops a connection that is still inside a transaction because its ROLLBACK failed, and one that still owes an
    // answer: it may be that of BEGIN.
    client.release(isSilent || client.getTransactionStatus() !== 'I');
  }
}

const ignore = () => {};

/**
 * BEGIN is sent together with the statements that follow it, and so are statements awaited `together`. The commit also
 * waits for the answer of BEGIN: if BEGIN failed, the statements ran outside of any transaction.
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

  /** Refuses statements after the end, which comes early when another one failed: they would commit on their own. */
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
  // `work` caught the error of the failed statement.
  if ((await committed).command !== 'COMMIT') {
    throw new Error('A statement of the transaction had failed: it was rolled back');
  }
}

/**
 * Leaves begun statements to the COMMIT of their transaction, which is sent together with them and waits for them. For
 * statements whose answers decide nothing. If one fails, the COMMIT rolls back, and the transaction throws its error.
 */
export function withCommit(tx: Statements, ...statements: Promise<unknown>[]): void {
  const { lastStatements } = tx.$client;
  if (lastStatements === undefined) throw new Error('These statements belong to no transaction');
  for (const statement of statements) statement.catch(ignore);
  lastStatements.push(...statements);
}

/** Runs a statement that each connection parses, and mostly plans, once; Drizzle names only what its builders make. */
export const runNamed = <Row extends pg.QueryResultRow>(
  db: Pick<Statements, '$client'>,
  statement: NamedStatement,
): Promise<pg.QueryResult<Row>> => db.$client.query<Row>(statement);
