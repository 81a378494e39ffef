import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '#test/app/test-database.ts';
import { createLog } from '../log.ts';
import { buildLargeIndexes, LARGE_INDEXES, startBuildingIndexes } from './large-indexes.ts';

const board = await createTestDatabase();
const { pool, connection } = board.database;
const log = createLog({ level: 'silent' });
let client: pg.Client;

beforeEach(async () => {
  client = new pg.Client(connection);
  await client.connect();
});
afterEach(() => client.end());
afterAll(() => board.close());

/** Name and columns of every index of the tables with large ones, as far as they can be used. */
async function listIndexes(): Promise<string[]> {
  const { rows } = await pool.query(
    `select pg_get_indexdef(indexrelid) as text from pg_index
     where indisvalid and indrelid = any($1::regclass[]) order by 1`,
    [[...new Set(LARGE_INDEXES.map(({ table }) => table))]],
  );
  return rows.map(({ text }) => text.replace(' ONLY ', ' ').replace('public.', '').replaceAll('"', ''));
}

const definitions = LARGE_INDEXES.map(
  ({ name, table, columns, where }) =>
    `CREATE INDEX ${name} ON ${table} USING btree (${columns})${where === undefined ? '' : ' WHERE …'}`,
).sort();
/** The database writes a condition in its own way. */
const large = async () =>
  (await listIndexes())
    .filter((text) => / \w+_(list(_\w+)?|order|series|waiting) ON /.test(text))
    .map((text) => text.replace(/ WHERE .*/, ' WHERE …'));

const drop = (names: readonly string[]) => pool.query(`drop index ${names.join(', ')}`);

test('a new database has the indexes of lists, and no others in their place', async () => {
  expect(await large()).toEqual(definitions);
  expect(
    (await listIndexes()).filter((text) => /_received|_created |_match |_unfinished /.test(text)),
  ).toEqual([]);
});

test('what is missing is built, and what it takes over goes', async () => {
  const before = await listIndexes();
  await drop(LARGE_INDEXES.map(({ name }) => name));
  await pool.query('create index signals_received on signals (received_at, id)');
  await pool.query('create index price_logs_received on price_logs (received_at, id)');
  await pool.query('create index workflows_created on workflows (created_at, id)');
  await pool.query('create index price_logs_match on price_logs (token, candle_time_server)');
  await pool.query(`create index workflows_unfinished on workflows (token, id) where status = 'pending'`);
  expect(await buildLargeIndexes({ client, log })).toBe(true);
  expect(await listIndexes()).toEqual(before);
});

test('an index that an interruption left half built is built anew', async () => {
  await pool.query(
    `update pg_index set indisvalid = false where indexrelid = 'signals_list_token'::regclass`,
  );
  expect(await large()).not.toEqual(definitions);
  expect(await buildLargeIndexes({ client, log })).toBe(true);
  expect(await large()).toEqual(definitions);
});

test('a partitioned table gets them partition by partition, also when it had been begun', async () => {
  await pool.query('drop table price_logs cascade');
  await pool.query(`create table price_logs (id uuid primary key, received_at timestamptz, token text, timeframe text,
    processor text, candle_time_server timestamptz) partition by range (id)`);
  await pool.query(`create table price_logs_a partition of price_logs
    for values from (minvalue) to ('00000000-0000-0000-0000-000000000001')`);
  await pool.query('create table price_logs_default partition of price_logs default');
  await pool.query(
    'create index price_logs_list on only price_logs (received_at, id, token, timeframe, processor)',
  );
  await pool.query(
    'create index price_logs_a_list on price_logs_a (received_at, id, token, timeframe, processor)',
  );
  await pool.query('alter index price_logs_list attach partition price_logs_a_list');
  expect(await buildLargeIndexes({ client, log })).toBe(true);
  expect(await large()).toEqual(definitions);
});

test('while another program is at it this one waits, and goes on when that one is gone', async () => {
  const other = new pg.Client(connection);
  await other.connect();
  await other.query('select pg_advisory_lock(5128313)');
  await drop(['workflows_list']);
  expect(await buildLargeIndexes({ client, log })).toBe(false);
  const stop = startBuildingIndexes({ connection, log, againMs: 20 });
  // Time for an attempt that finds it so.
  await sleep(200);
  await other.end();
  await expect.poll(large).toEqual(definitions);
  stop();
});
