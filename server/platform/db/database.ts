import type { ExtractTablesWithRelations } from 'drizzle-orm';
import type { NodePgDatabase, NodePgQueryResultHKT } from 'drizzle-orm/node-postgres';
import type { PgDatabase, PgTransaction } from 'drizzle-orm/pg-core';
import type pg from 'pg';

type NoRelations = Record<string, never>;

export type Db = NodePgDatabase<NoRelations> & { $client: pg.Pool };
export type Tx = PgTransaction<NodePgQueryResultHKT, NoRelations, ExtractTablesWithRelations<NoRelations>>;
/** What statements are built on: any Drizzle database or transaction over node-postgres. */
export type Statements = Pick<
  PgDatabase<NodePgQueryResultHKT, NoRelations>,
  '_' | 'select' | 'insert' | 'update' | 'delete' | 'execute'
>;
/** What a query can run on: the pool, a connection of it, or a transaction under way. */
export type Queryable = NodePgDatabase<NoRelations> | Tx;
