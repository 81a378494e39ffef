import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createTestDatabase } from '#test/app/test-database.ts';
import drizzleConfig from '../../../drizzle.config.ts';
import { createLog } from '../log.ts';
import { applyMigrations, migrateDatabase, readMigrations } from './migrate.ts';

const run = promisify(execFile);

test('the migrations make exactly the schema that the code works with', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signal-board-migrations-'));
  try {
    await cp('migrations', folder, { recursive: true });
    // The tool takes a path relative to the project only.
    const out = relative(process.cwd(), folder);
    const config = join(folder, 'drizzle.config.json');
    await writeFile(config, JSON.stringify({ ...drizzleConfig, out }));
    const tool = 'node_modules/drizzle-kit/bin.cjs';
    const { stdout } = await run(process.execPath, [
      tool,
      'generate',
      `--config=${relative(process.cwd(), config)}`,
    ]);
    expect(stdout).toContain('No schema changes');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** Three connections to a database of their own. */
async function openThree() {
  const { database, close } = await createTestDatabase();
  const connect = async () => {
    const client = new pg.Client(database.connection);
    await client.connect();
    return client;
  };
  const [reader, migration, writer] = [await connect(), await connect(), await connect()];
  const end = async () => {
    for (const client of [reader, migration, writer]) await client.end();
    await close();
  };
  return { database, reader, migration, writer, end };
}

/** While another one holds a lock that the migration waits for, and longer than a writer would wait for it. */
async function writeForAWhile(writer: pg.Client, tables: string): Promise<void> {
  await writer.query("set lock_timeout = '1s'");
  const until = Date.now() + 2_000;
  while (Date.now() < until) await writer.query(`begin; lock table ${tables} in row exclusive mode; commit`);
}

const textOf = (migration: string) => readFile(`migrations/${migration}.sql`, 'utf8');

test('what takes deliveries does not stand behind the migration that takes away their announcements', async () => {
  const { reader, migration, writer, end } = await openThree();
  try {
    await migration.query(
      `create trigger price_logs_insert_announced after insert on price_logs
         referencing new table as changed for each statement execute function announce_changes('price-logs')`,
    );
    await reader.query('begin; lock table price_logs in access share mode');
    const migrated = migration.query(await textOf('0018_deliveries_without_announcement'));
    await writeForAWhile(writer, 'price_logs');
    await reader.query('commit');
    await migrated;
    const { rows } = await reader.query(
      "select tgname from pg_trigger where tgrelid in ('price_logs'::regclass, 'deliveries'::regclass) and not tgisinternal",
    );
    expect(rows).toEqual([]);
    expect((await migration.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '0' }]);
  } finally {
    await end();
  }
});

test.each(['workflows', 'order_attempts'])(
  'neither signals nor orders stand behind migrations that wait, while somebody reads %s',
  async (table) => {
    const { database, reader, migration, writer, end } = await openThree();
    try {
      await migration.query('drop schema drizzle cascade; drop schema public cascade; create schema public');
      await applyMigrations(migration, readMigrations().slice(0, 20));
      await reader.query(`begin; lock table ${table} in access share mode`);
      const log = createLog({ level: 'silent' });
      const migrated = migrateDatabase({ connection: database.connection, log });
      await writeForAWhile(writer, 'workflows, order_attempts');
      await reader.query('commit');
      await migrated;
      await reader.query('select is_own, doubt from workflows, order_attempts');
    } finally {
      await end();
    }
  },
);
