import { createHash, randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest';
import type { ArrivedCandle } from '#server/ingest/arrival.ts';
import { storeNewCandles } from '#server/ingest/new-candles.store.ts';
import { drizzleOver } from '#server/platform/db/drizzle-over.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { firstIdOf, momentOf } from '../ids.ts';
import { createLog } from '../log.ts';
import { applyMigrations, countKnownMigrations, migrateDatabase, readMigrations } from './migrate.ts';
import { monthOf } from './partition-months.ts';
import { arrangeTables } from './partition-tables.ts';
import { createPartitions, isPartitioned, listPartitions } from './partitions.ts';

const log = createLog({ level: 'silent' });
const open: { close(): Promise<void> }[] = [];
let here: TestDatabase;
let client: pg.Client;

afterAll(async () => {
  for (const one of open.reverse()) await one.close();
});

async function connect(name: string): Promise<pg.Client> {
  const one = new pg.Client({ ...inject('testServer'), database: name });
  await one.connect();
  open.push({ close: () => one.end() });
  return one;
}

const nameOf = async (database: TestDatabase) =>
  (await database.database.pool.query('select current_database() as name')).rows[0].name;

/** An id as it is made at that moment. */
const idAt = (moment: Date): string => firstIdOf(moment).slice(0, 24) + randomBytes(6).toString('hex');
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const COLUMNS = `id, hook_id, owner_user_id, from_admin, token, timeframe, price, currency, candle_time_tradingview,
  candle_time_server, received_at, source_ip, hash_value, parameters`;

/** As the program of the version before stores a candle. */
const insertCandle = (one: pg.ClientBase, text: string, at: Date, conflict = '') =>
  one.query(
    `insert into price_logs (${COLUMNS}) values ($1, $2, $2, true, 'BTC', '15', 1, 'USDT', '', $3, $3, '', $4, '{}')
     ${conflict} returning id`,
    [idAt(at), idAt(at), at, hashOf(text)],
  );
const insertDelivery = (at: Date) =>
  client.query(
    `insert into deliveries (id, hook_id, kind, result, source_ip, received_at)
     values ($1, $1, 'candle', 'stored', '', $2)`,
    [idAt(at), at],
  );

const HOOK_ID = randomUUID();
const KEY_HASH = randomBytes(32);

/** The webhook that candles arrive through. */
async function addWebhook(): Promise<void> {
  await client.query(
    `with owner as (
       insert into users (id, username, username_key, password_hash, is_test_user, created_at, updated_at)
       values ($1, 'sender', 'sender', '', false, now(), now()) returning id
     )
     insert into hooks (id, user_id, name, key_hash, key_sealed, created_at, updated_at)
     select $1, id, '', $2, '', now(), now() from owner`,
    [HOOK_ID, KEY_HASH],
  );
}

const arrivalOf = (text: string): ArrivedCandle => ({
  hookId: HOOK_ID,
  hashValue: hashOf(text),
  delivery: {
    key: { hash: KEY_HASH, hookId: HOOK_ID },
    sourceIp: '',
    receivedAt: new Date(),
    content: {
      kind: 'candle',
      payload: {},
      fields: {
        token: 'BTC',
        timeframe: '15',
        price: '1',
        currency: 'USDT',
        processor: null,
        timeText: '',
        time: new Date(),
        parameters: {},
      },
    },
  },
});

/** What holds the candle's hash after this program was to store it: an id of its own, or the one that came first. */
async function store(text: string, id = idAt(new Date())): Promise<string | undefined> {
  const { pool } = here.database;
  await storeNewCandles(drizzleOver(pool), [arrivalOf(text)], () => id);
  const holders = 'select price_log_id from price_log_hashes where hash_value = $1';
  return (await pool.query(holders, [Buffer.from(hashOf(text), 'hex')])).rows[0]?.price_log_id;
}

const partitionOf = async (id: string): Promise<string> =>
  (await client.query('select tableoid::regclass::text as name from price_logs where id = $1', [id])).rows[0]
    ?.name;
const names = async (table: 'price_logs' | 'deliveries') =>
  (await listPartitions(client, table)).map(({ name }) => name);

const NOW = new Date('2026-11-22T10:00:00Z');

describe('a database of the version before', () => {
  beforeEach(async () => {
    here = await createTestDatabase();
    open.push(here);
    const bare = `before_${randomBytes(6).toString('hex')}`;
    await here.database.pool.query(`create database ${bare} template template0`);
    const server = here.database.pool;
    open.push({ close: async () => void (await server.query(`drop database ${bare} with (force)`)) });
    client = await connect(bare);
    await client.query('begin');
    await applyMigrations(client, readMigrations().slice(0, 11));
    await client.query('commit');
    await addWebhook();
    const pool = new pg.Pool({ ...inject('testServer'), database: bare, statement_timeout: 3_000 });
    // Those that are still ending when their database is dropped hear of it, from the pool or by themselves.
    pool.on('error', () => {});
    pool.on('connect', (connection) => connection.on('error', () => {}));
    open.push({ close: () => pool.end() });
    here = { database: { ...here.database, pool }, close: async () => {} };
  });
  const migrate = (alone: boolean) =>
    migrateDatabase({
      connection: { ...inject('testServer'), database: client.database ?? '' },
      log,
      alone,
      now: NOW,
    });

  test('keeps its rows in the first partition, and its candles stay known', async () => {
    const times = ['2025-01-31T23:59:59.999Z', '2026-06-01T00:00:00Z', '2026-11-22T09:00:00Z'];
    const ids: string[] = [];
    for (const time of times) ids.push((await insertCandle(client, time, new Date(time))).rows[0].id);
    const { rows: stray } = await insertCandle(client, 'ahead', new Date('2027-05-05T05:05:05Z'));
    await insertDelivery(new Date('2026-10-01T00:00:00Z'));
    await client.query(
      'create role reader_of_price_logs; grant select on price_logs to reader_of_price_logs',
    );
    await client.query(`create function note_candle() returns trigger language plpgsql as 'begin return null; end';
      create trigger of_an_operator after insert on price_logs for each statement execute function note_candle()`);
    try {
      await migrate(true);
      expect(await names('price_logs')).toEqual([
        'price_logs_before_2026_12',
        'price_logs_2026_12',
        'price_logs_2027_01',
        'price_logs_2027_02',
      ]);
      expect(await names('deliveries')).toHaveLength(4);
      for (const id of ids) expect(await partitionOf(id)).toBe('price_logs_before_2026_12');
      expect(await partitionOf(stray[0].id)).toBe('price_logs_default');
      for (const [index, time] of times.entries()) expect(await store(time)).toBe(ids[index]);
      expect(await store('ahead')).toBe(stray[0].id);
      expect((await client.query('select from price_logs')).rowCount).toBe(4);
      expect((await client.query('select from deliveries')).rowCount).toBe(1);
      const { rows } = await client.query(
        `select has_table_privilege('reader_of_price_logs', 'price_logs', 'select') as granted,
           (select array_agg(tgname::text) from pg_trigger where tgrelid = 'price_logs'::regclass) as triggers,
           (select count(*)::int from pg_index where not indisvalid) as invalid,
           (select array_agg(relname::text order by relname) from pg_index join pg_class on pg_class.oid = indexrelid
            where indrelid = 'price_logs'::regclass) as indexes`,
      );
      expect(rows[0]).toMatchObject({ granted: true, triggers: ['of_an_operator'], invalid: 0 });
      expect(rows[0].indexes).toEqual(
        expect.arrayContaining(['price_logs_mark', 'price_logs_pkey', 'price_logs_series']),
      );
    } finally {
      await client.query('drop owned by reader_of_price_logs; drop role reader_of_price_logs');
    }
  });

  test('is partitioned only when no program of that version runs any more, and both know the same candles till then', async () => {
    const old = 'on conflict (hash_value) do nothing';
    await client.query(
      `insert into engine_workers (instance_id, worker_id, is_active, current_tasks, max_concurrent, processed_tasks,
         started_at, heartbeat_at) values ('old', 'worker', true, 0, 1, 0, now(), now())`,
    );
    const { rows: early } = await insertCandle(client, 'from before', NOW, old);
    await migrate(false);
    expect(await isPartitioned(client, 'price_logs')).toBe(false);
    expect(await store('from before')).toBe(early[0].id);
    const { rows: first } = await insertCandle(client, 'of the old', NOW, old);
    expect(await store('of the old')).toBe(first[0].id);
    const second = await store('of the new');
    expect((await insertCandle(client, 'of the new', NOW, old)).rows).toEqual([]);
    const { rows: found } = await client.query('select id from price_logs where hash_value = $1', [
      hashOf('of the new'),
    ]);
    expect(found).toEqual([{ id: second }]);

    await client.query('update engine_workers set schema_version = $1', [countKnownMigrations()]);
    expect(await arrangeTables({ client, log, now: NOW, alone: false })).toBe(true);
    expect(await isPartitioned(client, 'price_logs')).toBe(true);
    expect(await store('of the old')).toBe(first[0].id);
    expect(await store('of the new')).toBe(second);
  });

  test('an old and a new program that store the same candle at once end up with one price log, in any order', async () => {
    const old = 'on conflict (hash_value) do nothing';
    await client.query(
      `insert into engine_workers (instance_id, worker_id, is_active, current_tasks, max_concurrent, processed_tasks,
         started_at, heartbeat_at) values ('old', 'worker', true, 0, 1, 0, now(), now())`,
    );
    await migrate(false);
    await client.query('begin');
    const { rows } = await insertCandle(client, 'old first', NOW, old);
    const late = store('old first');
    await client.query('select pg_sleep(0.1)');
    await client.query('commit');
    expect(await late).toBe(rows[0].id);

    const slow = await drizzleOver(here.database.pool).transaction(async (tx) => {
      const held = idAt(NOW);
      expect(await storeNewCandles(tx, [arrivalOf('new first')], () => held)).toEqual([held]);
      const waits = insertCandle(client, 'new first', NOW, old);
      await tx.execute('select pg_sleep(0.1)');
      return { held, waits };
    });
    expect((await slow.waits).rows).toEqual([]);
    expect(await store('new first')).toBe(slow.held);
    // The old one comes between the two halves of what the new one does.
    const between = await connect(client.database ?? '');
    await between.query('begin');
    await between.query('insert into price_log_hashes values ($1, $2)', [
      Buffer.from(hashOf('in between'), 'hex'),
      idAt(NOW),
    ]);
    const waits = insertCandle(client, 'in between', NOW, old);
    await between.query('select pg_sleep(0.1)');
    await insertCandle(between, 'in between', NOW);
    await between.query('commit');
    expect((await waits).rows).toEqual([]);
    // New ones beside each other do not wait for the table.
    await drizzleOver(here.database.pool).transaction(async (tx) => {
      await storeNewCandles(tx, [arrivalOf('one')]);
      await store('two');
    });
  });
});

describe('partitions', () => {
  let last: Date;

  beforeEach(async () => {
    here = await createTestDatabase();
    open.push(here);
    client = await connect(await nameOf(here));
    await addWebhook();
    last = (await listPartitions(client, 'price_logs')).at(-1)?.to ?? NOW;
  });

  test('each hold the ids of one month of UTC', () => {
    const month = new Date('2027-01-01T00:00:00Z');
    expect(firstIdOf(month) > firstIdOf(new Date(month.getTime() - 1)).replace('-7000-8', '-7fff-b')).toBe(
      true,
    );
    expect(momentOf(firstIdOf(month))).toEqual(month);
    expect(monthOf(new Date('2026-12-31T23:59:59.999Z'), 1)).toEqual(month);
  });

  test('a candle of the last millisecond of a month and one of the first of the next are kept apart, and both known', async () => {
    const [first] = await listPartitions(client, 'price_logs');
    const edge = first?.to ?? NOW;
    const before = idAt(new Date(edge.getTime() - 1));
    const after = idAt(edge);
    await store('before', before);
    await store('after', after);
    expect(await partitionOf(before)).toBe(first?.name);
    expect(await partitionOf(after)).not.toBe(first?.name);
    // The same candle again, a month later and from the older partition.
    expect(await store('before', idAt(monthOf(edge, 1)))).toBe(before);
    expect(await store('after', idAt(monthOf(edge, 1)))).toBe(after);
    expect((await client.query('select from price_logs')).rowCount).toBe(2);
  });

  test('are made three months ahead, once', async () => {
    expect(await createPartitions(client, { table: 'deliveries', now: last })).toHaveLength(4);
    expect(await createPartitions(client, { table: 'deliveries', now: last })).toEqual([]);
    const after = (await listPartitions(client, 'deliveries')).at(-1)?.to;
    expect(after).toEqual(monthOf(last, 4));
  });

  test('what arrives for a month without one is kept all the same, known, and moves there when it is made', async () => {
    const lost = idAt(monthOf(last, 2));
    const farOff = idAt(monthOf(last, 30));
    expect(await store('ahead', lost)).toBe(lost);
    await store('far off', farOff);
    expect(await partitionOf(lost)).toBe('price_logs_default');
    expect(await store('ahead')).toBe(lost);
    await createPartitions(client, { table: 'price_logs', now: last });
    expect(await partitionOf(lost)).not.toBe('price_logs_default');
    expect(await partitionOf(farOff)).toBe('price_logs_default');
    expect(await store('ahead')).toBe(lost);
  });

  test('are made while a delivery is being stored, without waiting for it', async () => {
    await drizzleOver(here.database.pool).transaction(async (tx) => {
      await storeNewCandles(tx, [arrivalOf('under way')]);
      expect(await createPartitions(client, { table: 'price_logs', now: last })).toHaveLength(4);
    });
  });

  test('a program starts while a backup reads the tables, and makes them at the next look', async () => {
    const reader = await connect(await nameOf(here));
    await reader.query('begin; select from price_logs');
    const looked = { client, log, now: last, alone: true, lockTries: 1 };
    expect(await arrangeTables(looked)).toBe(false);
    await reader.query('commit');
    expect(await arrangeTables(looked)).toBe(true);
    expect(await createPartitions(client, { table: 'price_logs', now: last })).toEqual([]);
  });

  test('a query by id reads one of them', async () => {
    const { rows } = await client.query(`explain select * from price_logs where id = '${idAt(NOW)}'`);
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).not.toContain('Append');
  });
});
