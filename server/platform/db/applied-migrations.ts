import { join } from 'node:path';
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import type pg from 'pg';
import { PROJECT_FOLDER } from '../config/project-folder.ts';

const MIGRATIONS = join(PROJECT_FOLDER, 'migrations');

export const readMigrations = (): MigrationMeta[] => readMigrationFiles({ migrationsFolder: MIGRATIONS });

/** Hashes in the order in which they were applied; none in a database that nothing was made in. */
export async function listAppliedMigrations(client: pg.Client): Promise<string[]> {
  const { rows: found } = await client.query(`select to_regclass('drizzle.__drizzle_migrations') as name`);
  if (found[0]?.name == null) return [];
  const { rows } = await client.query<{ hash: string }>(
    'select hash from drizzle.__drizzle_migrations order by created_at, id',
  );
  return rows.map(({ hash }) => hash);
}
