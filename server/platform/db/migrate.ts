import { join } from 'node:path';
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import pg from 'pg';
import { type Clock, systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { PROJECT_FOLDER } from '../config/project-folder.ts';
import type { Logger } from '../log.ts';
import { BusyError, ensurePartitions, withShortLocks } from './partitions.ts';
import { StartError } from './start-error.ts';

const MIGRATIONS = join(PROJECT_FOLDER, 'migrations');

export const readMigrations = (): MigrationMeta[] => readMigrationFiles({ migrationsFolder: MIGRATIONS });

/** Hashes in the order of application; empty for an empty database. */
export async function listAppliedMigrations(client: pg.Client): Promise<string[]> {
  const { rows: found } = await client.query(`select to_regclass('drizzle.__drizzle_migrations') as name`);
  if (found[0]?.name == null) return [];
  const { rows } = await client.query<{ hash: string }>(
    'select hash from drizzle.__drizzle_migrations order by created_at, id',
  );
  return rows.map(({ hash }) => hash);
}

/** Whether the schema belongs to a version whose migrations the baseline has replaced. */
export function isBeforeBaseline(applied: readonly string[]): boolean {
  const [baseline] = readMigrations();
  return applied.length > 0 && baseline !== undefined && !applied.includes(baseline.hash);
}

/** Throws a StartError for a database from before the baseline, and leaves it unchanged. */
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

/** Held by the one program that changes tables. */
export const SCHEMA_LOCK = 5_128_312;

/** Brings the schema up to date; when instances start together, one migrates and the others wait. */
export async function migrateDatabase(options: {
  connection: pg.ClientConfig;
  log: Logger;
  clock?: Clock;
  /** The program's own, unless a test passes more. */
  migrations?: MigrationMeta[];
}): Promise<void> {
  const { connection, log, clock = systemClock, migrations = readMigrations() } = options;
  const startedMs = clock.monotonicMs();
  // The pool's statement timeout would be too short for a large table.
  const client = new pg.Client({ ...connection, application_name: 'signal-board migration' });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('set client_min_messages = warning');
    await client.query('select pg_advisory_lock($1)', [SCHEMA_LOCK]);
    await applyDue({ client, log, clock, migrations });
    await ensurePartitions({ client, log, now: clock.now() });
    log.info({ ms: Math.round(clock.monotonicMs() - startedMs) }, 'the database schema is up to date');
  } finally {
    await client.end();
  }
}

/**
 * Applies each migration in its own transaction, so that none keeps its locks while the next one waits; a new database
 * takes all in one. Lock attempts end after a moment and are repeated for as long as it takes: deliveries must not wait
 * behind a migration that waits for a long reader.
 */
async function applyDue(options: {
  client: pg.Client;
  log: Logger;
  clock: Clock;
  migrations: MigrationMeta[];
}): Promise<void> {
  const { client, log, clock, migrations } = options;
  const applied = await listAppliedMigrations(client);
  const due = migrations.slice(applied.length);
  const steps = applied.length === 0 ? [due] : due.map((migration) => [migration]);
  for (const step of steps) {
    const apply = (tries: number) =>
      withShortLocks(client, () => applyMigrations(client, step), { tries, clock });
    for (let tries = 4; await isBusy(apply(tries)); tries = 120) {
      log.warn('a migration waits for another user of its tables, such as a backup');
    }
  }
}

const isBusy = (work: Promise<void>): Promise<boolean> =>
  work.then(
    () => false,
    (error: unknown) => {
      if (error instanceof BusyError) return true;
      throw error;
    },
  );

/** Applies and records migrations inside the current transaction; Drizzle's migrator would begin its own. */
export async function applyMigrations(client: pg.Client, migrations: MigrationMeta[]): Promise<void> {
  await client.query('create schema if not exists drizzle');
  await client.query(
    'create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)',
  );
  for (const { sql, hash, folderMillis } of migrations) {
    for (const statement of sql) await client.query(statement);
    await client.query('insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)', [
      hash,
      folderMillis,
    ]);
  }
}
