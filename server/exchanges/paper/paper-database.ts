import type { NodePgQueryResultHKT } from 'drizzle-orm/node-postgres';
import type { PgDatabase } from 'drizzle-orm/pg-core';

/** Any Drizzle database or transaction over node-postgres, whatever schema it was opened with. */
export type PaperDatabase = Pick<
  PgDatabase<NodePgQueryResultHKT, Record<string, never>>,
  'select' | 'insert' | 'update' | 'delete' | 'execute'
>;
