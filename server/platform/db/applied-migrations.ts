import { join } from 'node:path';
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import pg from 'pg';
import type { Config } from '../config/config.ts';
import { PROJECT_FOLDER } from '../config/project-folder.ts';
import { StartError } from './start-error.ts';

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

/** Whether a version made the schema whose migrations were replaced by the first one that there is now. */
export function isBeforeBaseline(applied: readonly string[]): boolean {
  const [baseline] = readMigrations();
  return applied.length > 0 && baseline !== undefined && !applied.includes(baseline.hash);
}

/** Throws a StartError when a version from before the baseline made the database, which stays as it is. */
export async function refuseBeforeBaseline(
  connection: pg.ClientConfig,
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
): Promise<void> {
  const client = new pg.Client({ ...connection, application_name: 'signal-board check' });
  client.on('error', () => {});
  try {
    await client.connect();
    if (!isBeforeBaseline(await listAppliedMigrations(client))) return;
  } finally {
    await client.end().catch(() => {});
  }
  const [place, fresh] =
    databaseUrl === null
      ? [`The database in ${dataDir} (DATA_DIR)`, 'a new DATA_DIR']
      : ['The database of DATABASE_URL', 'an empty database'];
  throw new StartError(
    `${place} was made by an older version and cannot be taken over: close all positions with that version, keep a backup of it (npm run backup), then start this version with ${fresh}`,
  );
}
