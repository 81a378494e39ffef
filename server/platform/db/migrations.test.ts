import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { MigrationMeta } from 'drizzle-orm/migrator';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { createTestDatabase } from '#test/app/test-database.ts';
import drizzleConfig from '../../../drizzle.config.ts';
import { systemClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { migrateDatabase, readMigrations } from './migrate.ts';

const run = promisify(execFile);

const TOOL = 'node_modules/drizzle-kit/bin.cjs';

testEveryCase('the snapshot of the migrations matches the schema files', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signal-board-migrations-'));
  try {
    await cp('migrations', folder, { recursive: true });
    // The tool only takes a path relative to the project.
    const out = relative(process.cwd(), folder);
    const config = join(folder, 'drizzle.config.json');
    await writeFile(config, JSON.stringify({ ...drizzleConfig, out }));
    const args = [TOOL, 'generate', `--config=${relative(process.cwd(), config)}`];
    const { stdout } = await run(process.execPath, args);
    expect(stdout).toContain('No schema changes');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** Columns, constraints and indexes of all tables, as the database reports them. */
async function describeTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ text: string }>(`
    with tables as (
      select oid, relname from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition)
    select concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
        pg_get_expr(adbin, adrelid)) as text
      from tables join pg_attribute on attrelid = tables.oid left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attnum > 0 and not attisdropped
    union all
    select concat_ws(' ', relname, conname, pg_get_constraintdef(pg_constraint.oid))
      from tables join pg_constraint on conrelid = tables.oid where contype <> 'n'
    union all
    select replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') from tables join pg_index on indrelid = tables.oid
    union all
    select concat_ws(' ', relname, start_value, increment_by) from pg_sequences
      join pg_class on relname = sequencename where schemaname = 'public'
    order by 1`);
  return rows.map(({ text }) => text);
}

test('the migrations create the tables that the schema files describe', async () => {
  const { database, close } = await createTestDatabase();
  const name = `described_${randomBytes(6).toString('hex')}`;
  await database.pool.query(`create database ${name} template template0`);
  const clients = [database.connection, { ...inject('testServer'), database: name }].map(
    (connection) => new pg.Client(connection),
  );
  const [migrated, described] = clients as [pg.Client, pg.Client];
  try {
    for (const client of clients) await client.connect();
    const { stdout } = await run(process.execPath, [TOOL, 'export', '--config=drizzle.config.ts']);
    await described.query(stdout);
    expect(await describeTables(migrated)).toEqual(await describeTables(described));
  } finally {
    for (const client of clients) await client.end();
    await database.pool.query(`drop database ${name} with (force)`);
    await close();
  }
});

/** Two connections to a separate database. */
async function openTwo() {
  const { database, close } = await createTestDatabase();
  const connect = async () => {
    const client = new pg.Client(database.connection);
    await client.connect();
    return client;
  };
  const [reader, writer] = [await connect(), await connect()];
  const end = async () => {
    for (const client of [reader, writer]) await client.end();
    await close();
  };
  return { database, reader, writer, end };
}

/** A clock whose pauses end at once, and how many there were: the migration makes one whenever it gives a lock up. */
function countPauses() {
  let count = 0;
  const sleep = async () => {
    count += 1;
  };
  return { clock: { ...systemClock, sleep }, pauses: () => count };
}

/** Migrations of a later version, each in its own transaction. */
const laterMigrations: MigrationMeta[] = [
  'alter table workflows add column later_workflow text',
  'alter table order_attempts add column later_order text',
].map((text, index) => ({
  sql: [text],
  hash: `later ${index}`,
  folderMillis: Date.now() + index,
  bps: true,
}));

test.each(firstCases(['workflows', 'order_attempts']))(
  'neither signals nor orders wait behind migrations while a reader holds %s',
  async (table) => {
    const { database, reader, writer, end } = await openTwo();
    try {
      await reader.query(`begin; lock table ${table} in access share mode`);
      const { clock, pauses } = countPauses();
      const migrated = migrateDatabase({
        connection: database.connection,
        log: createLog({ level: 'silent' }),
        clock,
        migrations: [...readMigrations(), ...laterMigrations],
      });
      await writer.query("set lock_timeout = '1s'");
      const early = migrated.then(() => expect.unreachable('the migration ended before the reader'));
      while (pauses() < 3) {
        const writing = writer.query(
          'begin; lock table workflows, order_attempts in row exclusive mode; commit',
        );
        await Promise.race([writing, early]);
      }
      await reader.query('commit');
      await migrated;
      await reader.query('select later_workflow, later_order from workflows, order_attempts');
    } finally {
      await end();
    }
  },
);
