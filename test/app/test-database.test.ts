import { expect, test } from 'vitest';
import { openPool } from '#server/platform/db/pool.ts';
import { createLog } from '#server/platform/log.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

const log = createLog({ level: 'silent' });
const STATE = `select current_database() as name,
  (select count(*)::int from leases) as rows, (select count(*)::int from jobs.queue) as queues,
  abs(extract(epoch from database_time() - now())) < 1 as "isNow", current_setting('work_mem') as memory,
  (select count(*)::int from pg_locks join pg_database on pg_database.oid = database
   where locktype = 'advisory' and datname = current_database()) as locks`;

async function stateOf({ database: { pool } }: TestDatabase) {
  return (await pool.query(STATE)).rows[0];
}

const takeLease = async ({ database: { pool } }: TestDatabase): Promise<string> => {
  const taken =
    "insert into leases (key, holder, lease_until) values ('key', 'holder', now()) returning version";
  return (await pool.query(taken)).rows[0].version;
};

test('two databases of one run have the schema and are isolated', async () => {
  const one = await createTestDatabase();
  const other = await createTestDatabase();
  try {
    await one.database.pool.query('create table only_here ()');
    const tables =
      "select count(*) from information_schema.tables where table_name in ('users', 'only_here')";
    expect((await one.database.pool.query(tables)).rows).toEqual([{ count: '2' }]);
    expect((await other.database.pool.query(tables)).rows).toEqual([{ count: '1' }]);
  } finally {
    await one.close();
    await other.close();
  }
});

test('the next test gets the same database and connection, as new', async () => {
  const first = await createTestDatabase();
  const before = await stateOf(first);
  const version = await takeLease(first);
  const { pool } = first.database;
  await pool.query("delete from jobs.queue where name = 'run-workflow'");
  await pool.query("select pg_advisory_lock(1), set_config('work_mem', '9MB', false)");
  await first.passTime(60_000);
  expect(await stateOf(first)).toEqual({
    ...before,
    rows: 1,
    queues: before.queues - 1,
    isNow: false,
    memory: '9MB',
    locks: before.locks + 1,
  });
  const sessions = 'select array_agg(pid) as ids from pg_stat_activity where datname = current_database()';
  const { ids } = (await pool.query(sessions)).rows[0];
  await first.close();

  const next = await createTestDatabase();
  expect(await stateOf(next)).toEqual(before);
  expect(ids).toContain((await next.database.pool.query('select pg_backend_pid() as id')).rows[0].id);
  expect(await takeLease(next)).toBe(version);
  await next.close();
});

test.each([
  'alter table leases rename to others',
  'alter table leases add more int',
  'alter table leases alter holder drop not null',
  'alter table workflows alter created_at set default now()',
  'alter table workflows drop constraint workflows_pkey cascade',
  'create index on leases (holder)',
  'alter table trades disable trigger all',
  'create or replace function risk_figures(wanted jsonb) returns jsonb language sql return wanted',
  'create rule more as on delete to leases do instead nothing',
  'create type more as enum ()',
])('a database is not used again after %s', async (change) => {
  const first = await createTestDatabase();
  const { name } = await stateOf(first);
  await first.database.pool.query(change);
  await first.close();
  const next = await createTestDatabase();
  expect((await stateOf(next)).name).not.toBe(name);
  await next.close();
});

test('a database with its schema as before is used again', async () => {
  const first = await createTestDatabase();
  const { name } = await stateOf(first);
  await first.database.pool.query(
    'alter table leases rename to others; alter table others rename to leases; alter table trades disable trigger all',
  );
  await first.database.pool.query('alter table trades enable trigger all; truncate leases');
  await first.close();
  const next = await createTestDatabase();
  expect((await stateOf(next)).name).toBe(name);
  await next.close();
});

test('a connection that ended meanwhile is not used again', async () => {
  const first = await createTestDatabase();
  const askTwice = ({ database: { pool } }: TestDatabase) =>
    Promise.all([pool.query('select 1'), pool.query('select 2')]);
  await askTwice(first);
  await first.close();
  const next = await createTestDatabase();
  const { pool } = next.database;
  const { rowCount } = await pool.query(
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  expect(rowCount).toBeGreaterThan(1);
  await pool.query('select');
  expect(await askTwice(next)).toHaveLength(2);
  await next.close();
});

test('a database with a foreign session is not used again', async () => {
  const first = await createTestDatabase();
  const { name } = await stateOf(first);
  const left = openPool({ connection: first.database.connection, log });
  await left.pool.query('select');
  await first.close();
  const next = await createTestDatabase();
  expect((await stateOf(next)).name).not.toBe(name);
  await next.close();
  await left.close();
});

test('what an earlier test left behind cannot connect any more', async () => {
  const first = await createTestDatabase();
  const { connection, classFor } = first.database;
  await first.close();
  const left = openPool({ connection, classFor, log });
  await expect(left.pool.query('select')).rejects.toThrow('ENOENT');
  await left.close();
});
