import type { MigrationMeta } from 'drizzle-orm/migrator';
import pg from 'pg';
import type { Logger } from '../log.ts';
import { listAppliedMigrations, readMigrations } from './applied-migrations.ts';
import { BusyError, ensurePartitions, withShortLocks } from './partitions.ts';
import type { DatabaseConnection } from './pool.ts';

/** Whoever changes tables holds it: one program at a time. */
export const SCHEMA_LOCK = 5_128_312;

/** Brings the schema up to date; of several instances that start together one does it and the others wait. */
export async function migrateDatabase(options: {
  connection: DatabaseConnection;
  log: Logger;
  /** Those of the program, unless a test has more. */
  migrations?: MigrationMeta[];
}): Promise<void> {
  const { connection, log, migrations = readMigrations() } = options;
  const startedAt = Date.now();
  // A connection of its own: a migration of a large table may take longer than a statement of the pool.
  const client = new pg.Client({ ...connection, application_name: 'signal-board migration' });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('set client_min_messages = warning');
    await client.query('select pg_advisory_lock($1)', [SCHEMA_LOCK]);
    await applyDue({ client, log, migrations });
    await ensurePartitions({ client, log, now: new Date() });
    log.info({ ms: Date.now() - startedAt }, 'the database schema is up to date');
  } finally {
    await client.end();
  }
}

/**
 * Each migration by itself, so that none keeps its locks while the next one waits for others; all at once in a new
 * database. Whoever takes alerts must not stand behind a migration that waits for a long reader, a backup for instance:
 * locks are given up after a moment and asked for again, for as long as it takes.
 */
async function applyDue(options: {
  client: pg.Client;
  log: Logger;
  migrations: MigrationMeta[];
}): Promise<void> {
  const { client, log, migrations } = options;
  const applied = await listAppliedMigrations(client);
  const due = migrations.slice(applied.length);
  const steps = applied.length === 0 ? [due] : due.map((migration) => [migration]);
  for (const step of steps) {
    for (let tries = 4; !(await applyStep(client, { step, tries })); tries = 120) {
      log.warn('a migration waits for somebody who works on its tables, a backup for instance');
    }
  }
}

/** Answers whether its locks could be had. */
async function applyStep(
  client: pg.Client,
  { step, tries }: { step: MigrationMeta[]; tries: number },
): Promise<boolean> {
  try {
    await withShortLocks(client, () => applyMigrations(client, step), { tries });
    return true;
  } catch (error) {
    if (!(error instanceof BusyError)) throw error;
    return false;
  }
}

/** Applies migrations inside the transaction under way and notes them, as the migrator does outside of one. */
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
