import type { Statements } from '#server/platform/db/database.ts';

/** Any Drizzle database or transaction over node-postgres, whatever schema it was opened with. */
export type PaperDatabase = Statements;
