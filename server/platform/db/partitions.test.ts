import { createHash, randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest';
import type { ArrivedCandle } from '#server/ingest/arrival.ts';
import { storeNewCandles } from '#server/ingest/new-arrivals.store.ts';
import { drizzleOver } from '#server/platform/db/drizzle-over.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { firstIdOf, momentOf } from '../ids.ts';
import { createLog } from '../log.ts';
import {
  createPartitions,
  ensurePartitions,
  listPartitions,
  monthName,
  monthOf,
  PARTITIONED_TABLES,
} from './partitions.ts';

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

/** An id made at that moment. */
const idAt = (moment: Date): string => firstIdOf(moment).slice(0, 24) + randomBytes(6).toString('hex');
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const HOOK_ID = randomUUID();
const KEY_HASH = randomBytes(32);

/** Adds the webhook that candles arrive through. */
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
    key: { hashes: [KEY_HASH], hookId: HOOK_ID },
    sourceIp: '',
    receivedAt: new Date(),
    content: {
      kind: 'candle',
      identity: {},
      fields: {
        token: 'BTC',
        timeframe: '15',
        price: '1',
        currency: 'USDT',
        processor: null,
        timeText: '',
        time: new Date(),
        parameters: {},
        warnings: [],
      },
    },
  },
});

/** Stores a candle and returns the id that holds its hash: the candle's own, or that of the first one. */
async function store(text: string, id = idAt(new Date())): Promise<string | undefined> {
  const { pool } = here.database;
  await storeNewCandles(drizzleOver(pool), [arrivalOf(text)], () => id);
  const holders = 'select price_log_id from price_log_hashes where hash_value = $1';
  return (await pool.query(holders, [Buffer.from(hashOf(text), 'hex')])).rows[0]?.price_log_id;
}

const partitionOf = async (id: string): Promise<string> =>
  (await client.query('select tableoid::regclass::text as name from price_logs where id = $1', [id])).rows[0]
    ?.name;
const NOW = new Date('2026-11-22T10:00:00Z');

describe('partitions', () => {
  let last: Date;

  beforeEach(async () => {
    here = await createTestDatabase();
    open.push(here);
    client = await connect(await nameOf(here));
    await addWebhook();
    last = (await listPartitions(client, 'price_logs')).at(-1)?.to ?? NOW;
  });

  test('each hold the ids of one month (UTC)', () => {
    const month = new Date('2027-01-01T00:00:00Z');
    expect(firstIdOf(month) > firstIdOf(new Date(month.getTime() - 1)).replace('-7000-8', '-7fff-b')).toBe(
      true,
    );
    expect(momentOf(firstIdOf(month))).toEqual(month);
    expect(monthOf(new Date('2026-12-31T23:59:59.999Z'), 1)).toEqual(month);
  });

  test('separate candles of the last millisecond of a month and the first of the next, and know both', async () => {
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

  test('begin with one for everything up to the end of the month in which the database is created', async () => {
    for (const table of PARTITIONED_TABLES) {
      const [first] = await listPartitions(client, table);
      const next = monthOf(new Date(), 1);
      expect(first).toEqual({ name: `${table}_before_${monthName(next)}`, from: null, to: next });
    }
  });

  test('are created three months ahead, once', async () => {
    expect(await createPartitions(client, { table: 'deliveries', now: last })).toHaveLength(4);
    expect(await createPartitions(client, { table: 'deliveries', now: last })).toEqual([]);
    const after = (await listPartitions(client, 'deliveries')).at(-1)?.to;
    expect(after).toEqual(monthOf(last, 4));
  });

  test('keep rows of a month without a partition, and take them over when it is created', async () => {
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

  test('are created while a delivery is being stored, without waiting for it', async () => {
    await drizzleOver(here.database.pool).transaction(async (tx) => {
      await storeNewCandles(tx, [arrivalOf('under way')]);
      expect(await createPartitions(client, { table: 'price_logs', now: last })).toHaveLength(4);
    });
  });

  test('do not delay a start while a backup reads the tables, and are created at the next check', async () => {
    const reader = await connect(await nameOf(here));
    await reader.query('begin; select from price_logs');
    const looked = { client, log, now: last, lockTries: 1 };
    expect(await ensurePartitions(looked)).toBe(false);
    await reader.query('commit');
    expect(await ensurePartitions(looked)).toBe(true);
    expect(await createPartitions(client, { table: 'price_logs', now: last })).toEqual([]);
  });

  test('limit a query by id to one of them', async () => {
    const { rows } = await client.query(`explain select * from price_logs where id = '${idAt(NOW)}'`);
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).not.toContain('Append');
  });
});
