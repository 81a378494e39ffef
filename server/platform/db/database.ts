import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PgTransactionConfig } from 'drizzle-orm/pg-core';
import type pg from 'pg';

/** Without a name it is parsed and planned each time. */
export interface NamedStatement {
  name?: string | undefined;
  text: string;
  values: unknown[];
}

/** What a statement is sent on: a pool, a connection of it, or a transaction under way. */
export interface Connection {
  query<Row extends pg.QueryResultRow>(statement: NamedStatement): Promise<pg.QueryResult<Row>>;
  /** Of a transaction: what its COMMIT goes out with. */
  lastStatements?: Promise<unknown>[];
}

interface Transactions {
  /** One that begins inside another is part of it. */
  transaction<Result>(
    work: (tx: Tx) => Promise<Result>,
    config?: Pick<PgTransactionConfig, 'isolationLevel'>,
  ): Promise<Result>;
}

export type Queryable = Omit<NodePgDatabase<Record<string, never>>, '$client' | 'transaction'> &
  Transactions & { $client: Connection };
/** What statements are built on and sent with. */
export type Statements = Pick<Queryable, '$client' | 'select' | 'insert' | 'update' | 'delete' | 'execute'>;
export type Tx = Queryable & { $client: Required<Connection> };
export type Db = Queryable & { $client: pg.Pool };
