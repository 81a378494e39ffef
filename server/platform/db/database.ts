import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PgTransactionConfig } from 'drizzle-orm/pg-core';
import type pg from 'pg';

/** Without a name, it is parsed and planned each time. */
export interface NamedStatement {
  name?: string | undefined;
  text: string;
  values: unknown[];
}

/** Sends statements: a pool, one of its connections, or a transaction in progress. */
export interface Connection {
  query<Row extends pg.QueryResultRow>(statement: NamedStatement): Promise<pg.QueryResult<Row>>;
  /** Only in a transaction: the statements that its COMMIT is sent with. */
  lastStatements?: Promise<unknown>[];
}

interface Transactions {
  /** A transaction that begins inside another is part of it. */
  transaction<Result>(
    work: (tx: Tx) => Promise<Result>,
    config?: Pick<PgTransactionConfig, 'isolationLevel'>,
  ): Promise<Result>;
}

export type Queryable = Omit<NodePgDatabase<Record<string, never>>, '$client' | 'transaction'> &
  Transactions & { $client: Connection };
/** Builds and sends statements. */
export type Statements = Pick<Queryable, '$client' | 'select' | 'insert' | 'update' | 'delete' | 'execute'>;
export type Tx = Queryable & { $client: Required<Connection> };
export type Db = Queryable & { $client: pg.Pool };
