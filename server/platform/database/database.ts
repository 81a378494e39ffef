import type { ExtractTablesWithRelations } from 'drizzle-orm';
import type { NodePgDatabase, NodePgQueryResultHKT } from 'drizzle-orm/node-postgres';
import type { PgTransaction } from 'drizzle-orm/pg-core';

type NoRelations = Record<string, never>;

export type Db = NodePgDatabase<NoRelations>;
export type Tx = PgTransaction<NodePgQueryResultHKT, NoRelations, ExtractTablesWithRelations<NoRelations>>;
/** What a query can run on: the pool, or a transaction under way. */
export type Queryable = Db | Tx;
