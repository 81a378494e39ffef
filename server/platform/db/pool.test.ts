import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { createTestDatabase } from '#test/app/test-database.ts';
import { createLog } from '../log.ts';
import { migrateDatabase } from './migrate.ts';
import { openDatabase, openPool } from './pool.ts';
import { StartError } from './start-error.ts';

const log = createLog({ level: 'silent' });

function serverUrl(database: string): string {
  const { host, port, user } = inject('testServer');
  return `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`;
}

test('returns numeric and bigint as strings, and instants as dates', async () => {
  const { database, close } = await createTestDatabase();
  const { rows } = await database.pool.query(
    "select 0.10::numeric as n, 9007199254740993::bigint as b, '2026-01-02T03:04:05Z'::timestamptz as t",
  );
  await close();
  expect(rows).toEqual([{ n: '0.10', b: '9007199254740993', t: new Date('2026-01-02T03:04:05Z') }]);
});

test('ends a statement after ten seconds, and survives the end of an idle connection', async () => {
  const { database, close } = await createTestDatabase();
  expect((await database.pool.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '10s' }]);
  const { rows } = await database.pool.query('select pg_backend_pid() as pid');
  const killer = new pg.Client(database.connection);
  await killer.connect();
  await killer.query('select pg_terminate_backend($1)', [rows[0].pid]);
  await killer.end();
  await expect
    .poll(() => database.pool.query('select 1 as one').then((result) => result.rows))
    .toEqual([{ one: 1 }]);
  await close();
});

test('warns about the end of an idle connection, unless the pool is being closed', async () => {
  const { database, close } = await createTestDatabase();
  const lines: string[] = [];
  const heard = createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } });
  const opened = openPool({ connection: database.connection, log: heard });
  await opened.pool.query('select 1');
  await database.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'signal-board' and pid <> pg_backend_pid() and datname = current_database()",
  );
  await expect.poll(() => lines.length).toBe(1);
  expect(lines[0]).toContain('an idle database connection ended');
  const closed = opened.close();
  opened.pool.emit(
    'error',
    new Error('terminating connection due to administrator command'),
    new pg.Client(),
  );
  await closed;
  expect(lines).toHaveLength(1);
  await close();
});

test('opens your own database by its address, and leaves it running when closed', async () => {
  const { database: existing, close } = await createTestDatabase();
  const { rows: names } = await existing.pool.query('select current_database() as name');
  const databaseUrl = serverUrl(names[0].name);
  const opened = await openDatabase({ config: { databaseUrl, dataDir: '/nowhere' }, log });
  expect(opened.embedded).toBe(false);
  expect(opened.connection).toEqual({ connectionString: databaseUrl });
  await opened.close();
  expect((await existing.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await close();
});

test('refuses a missing database immediately, with one line without the address', async () => {
  const databaseUrl = serverUrl('not_there');
  await expect(openDatabase({ config: { databaseUrl, dataDir: '/nowhere' }, log })).rejects.toThrow(
    /^The database of DATABASE_URL cannot be used: database "not_there" does not exist$/,
  );
});

test('refuses a database from before the baseline with one line, and leaves it unchanged', async () => {
  const { database: existing, close } = await createTestDatabase();
  await existing.pool.query('truncate drizzle.__drizzle_migrations');
  await existing.pool.query('insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)', [
    'a52d679d0070495c5357f590c426d716e3f09ebc874c779f0f3c14ddb5680ed8',
    '1795280028009',
  ]);
  const { rows } = await existing.pool.query('select current_database() as name');
  const databaseUrl = serverUrl(rows[0].name);
  await expect(openDatabase({ config: { databaseUrl, dataDir: '/nowhere' }, log })).rejects.toThrow(
    new StartError(
      'The database of DATABASE_URL was made by an older version and cannot be taken over: close all positions with that version, keep a backup of it (npm run backup), then start this version with an empty database',
    ),
  );
  const { rows: applied } = await existing.pool.query('select created_at from drizzle.__drizzle_migrations');
  expect(applied).toEqual([{ created_at: '1795280028009' }]);
  await close();
});

test('migrates a new database once when several programs start together', async () => {
  const { database, close } = await createTestDatabase();
  const name = 'migrated_together';
  await database.pool.query(`create database ${name}`);
  const connection = { ...inject('testServer'), database: name };
  try {
    await Promise.all([1, 2, 3].map(() => migrateDatabase({ connection, log })));
    const client = new pg.Client(connection);
    await client.connect();
    const { rows } = await client.query('select hash from drizzle.__drizzle_migrations');
    await client.end();
    expect(new Set(rows.map((row) => row.hash)).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThan(0);
  } finally {
    await database.pool.query(`drop database ${name} with (force)`);
    await close();
  }
});
