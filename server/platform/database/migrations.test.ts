import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createTestDatabase } from '#test/test-database.ts';
import drizzleConfig from '../../../drizzle.config.ts';

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

test('what takes deliveries does not stand behind the migration that takes away their announcements', async () => {
  const { database, close } = await createTestDatabase();
  const connect = async () => {
    const client = new pg.Client(database.connection);
    await client.connect();
    return client;
  };
  const [reader, migration, writer] = [await connect(), await connect(), await connect()];
  try {
    await migration.query(
      `create trigger price_logs_insert_announced after insert on price_logs
         referencing new table as changed for each statement execute function announce_changes('price-logs')`,
    );
    await reader.query('begin; lock table price_logs in access share mode');
    const migrated = migration.query(
      await readFile('migrations/0018_deliveries_without_announcement.sql', 'utf8'),
    );
    await writer.query("set lock_timeout = '1s'");
    const until = Date.now() + 2_000;
    while (Date.now() < until) {
      await writer.query('begin; lock table price_logs in row exclusive mode; commit');
    }
    await reader.query('commit');
    await migrated;
    const { rows } = await reader.query(
      "select tgname from pg_trigger where tgrelid in ('price_logs'::regclass, 'deliveries'::regclass) and not tgisinternal",
    );
    expect(rows).toEqual([]);
    expect((await migration.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '0' }]);
  } finally {
    for (const client of [reader, migration, writer]) await client.end();
    await close();
  }
});
