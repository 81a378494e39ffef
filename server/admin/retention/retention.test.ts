import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import { afterAll, afterEach, expect, inject, test } from 'vitest';
import { restoreBackup } from '#server/admin/backup/restore-backup.ts';
import { writeBackup } from '#server/admin/backup/write-backup.ts';
import { systemClock } from '#server/platform/clock.ts';
import { migrateDatabase } from '#server/platform/db/migrate.ts';
import { defaultPartitionOf, listPartitions, monthOf } from '#server/platform/db/partitions.ts';
import { firstIdOf } from '#server/platform/ids.ts';
import { createLog } from '#server/platform/log.ts';
import { createMetrics } from '#server/platform/metrics.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { createTestDatabase } from '#test/app/test-database.ts';
import type { BeforeDrop } from './drop-old-partitions.ts';
import { keepPartitions, startRetention } from './keep-partitions.ts';

let lines: string[] = [];
const log = createLog({ level: 'info', destination: { write: (line) => lines.push(line) } });
const made: string[] = [];

const here = await createTestDatabase();
const { rows } = await here.database.pool.query('select current_database() as name');
const client = new pg.Client({ ...inject('testServer'), database: rows[0].name });
await client.connect();
afterEach(() => {
  lines = [];
});
afterAll(async () => {
  for (const name of made) await here.database.pool.query(`drop database if exists ${name} with (force)`);
  await client.end();
  await here.close();
});

const DAY_MS = 24 * 3_600_000;
const plusDays = (moment: Date, days: number) => new Date(moment.getTime() + days * DAY_MS);
const idAt = (moment: Date): string => firstIdOf(moment).slice(0, 24) + randomBytes(6).toString('hex');

const retention = (now: Date, days: number, beforeDrop: BeforeDrop) => ({
  deps: {
    clock: { ...systemClock, now: () => now },
    log,
    metrics: createMetrics(),
    config: {
      priceLogRetentionDays: days,
      deliveryRetentionDays: days,
      signalHashRetentionDays: 0,
      workflowRetentionDays: 0,
      workflowStepRetentionDays: 0,
      calculationRetentionDays: 0,
      orderEventRetentionDays: 0,
    },
  },
  connection: here.database.connection,
  beforeDrop,
});

/** Runs the program's maintenance at `now`, with both retention settings at `days`. */
const keep = (now: Date, days: number, beforeDrop: BeforeDrop = async () => {}) =>
  keepPartitions(retention(now, days, beforeDrop));

async function insertAt(moment: Date): Promise<void> {
  const id = idAt(moment);
  const hash = createHash('sha256').update(id).digest('hex');
  await client.query(
    `with hashed as (insert into price_log_hashes values (decode('${hash}', 'hex'), '${id}'))
     insert into price_logs (id, hook_id, owner_user_id, from_admin, token, timeframe, price, currency,
       candle_time_tradingview, candle_time_server, received_at, source_ip, hash_value, parameters)
     values ('${id}', '${id}', '${id}', true, 'BTC', '15', 1, 'USDT', '', now(), now(), '', '${hash}', '{}')`,
  );
  await client.query(
    `insert into deliveries (id, hook_id, kind, result, source_ip, received_at)
     values ('${id}', '${id}', 'candle', 'stored', '', now())`,
  );
}
const count = async (table: string) =>
  Number((await client.query(`select count(*) as count from ${table}`)).rows[0].count);
const names = async () => (await listPartitions(client, 'price_logs')).map(({ name }) => name);

test('drops partitions in which every row is too old, with their hashes, and no younger rows', async () => {
  const [first, second, third] = await listPartitions(client, 'price_logs');
  const [firstEnd, secondEnd] = [first?.to ?? new Date(), second?.to ?? new Date()];
  for (const moment of [plusDays(firstEnd, -200), plusDays(firstEnd, -1), firstEnd]) await insertAt(moment);
  await insertAt(new Date(secondEnd.getTime() - 1));
  await insertAt(secondEnd);
  // From a clock that is years behind; the row goes to the first partition.
  await insertAt(new Date('2001-01-01T00:00:00Z'));

  expect(await keep(plusDays(firstEnd, 1000), 0)).toEqual([]);
  expect(await count('price_logs')).toBe(6);
  expect(await keep(new Date(plusDays(firstEnd, 30).getTime() - 1), 30)).toEqual([]);
  expect(await count('price_logs')).toBe(6);

  const seen: unknown[] = [];
  const dropped = await keep(plusDays(firstEnd, 30), 30, async (tx, one) => {
    const { rows } = await tx.execute<{ count: string }>(
      sql`select count(*) from ${sql.identifier(one.partition)}`,
    );
    seen.push([one.table, one.from, one.to, Number(rows[0]?.count)]);
  });
  expect(dropped.map(({ partition }) => partition)).toEqual([
    first?.name,
    first?.name.replace('price_logs', 'deliveries'),
  ]);
  expect(seen).toEqual([
    ['price_logs', null, firstEnd, 3],
    ['deliveries', null, firstEnd, 3],
  ]);
  expect(await names()).toEqual(expect.arrayContaining([second?.name, third?.name]));
  expect([await count('price_logs'), await count('deliveries'), await count('price_log_hashes')]).toEqual([
    3, 3, 3,
  ]);
  const told = lines.map((line) => JSON.parse(line)).filter(({ partition }) => partition === first?.name);
  expect(told).toMatchObject([{ table: 'price_logs', rows: 3, keptDays: 30, to: firstEnd.toISOString() }]);
  expect(lines.join('')).toContain('"hashes":3');
});

test('keeps a row for a dropped month until the next run, then drops it with its month', async () => {
  const [oldest] = await listPartitions(client, 'price_logs');
  const floor = oldest?.from ?? new Date();
  const before = await count('price_logs');
  await insertAt(plusDays(floor, -10));
  expect(await count(defaultPartitionOf('price_logs'))).toBe(1);
  await keep(plusDays(floor, 40), 0);
  expect(await count(defaultPartitionOf('price_logs'))).toBe(0);
  expect(await count('price_logs')).toBe(before + 1);
  await keep(plusDays(floor, 31), 30);
  expect([await count('price_logs'), await count('price_log_hashes')]).toEqual([before, before]);
});

test('keeps a partition when the step before its drop fails, and drops it in the next run', async () => {
  const [oldest] = await listPartitions(client, 'price_logs');
  const now = plusDays(oldest?.to ?? new Date(), 31);
  const before = await count('price_logs');
  await expect(
    keep(now, 30, async () => {
      throw new Error('the figures are locked');
    }),
  ).rejects.toThrow('the figures are locked');
  expect(await count('price_logs')).toBe(before);
  expect(await names()).toContain(oldest?.name);
  expect((await keep(now, 30)).map(({ partition }) => partition)).toContain(oldest?.name);
});

test('a partition that cannot be dropped keeps none of another table', async () => {
  const [oldest] = await listPartitions(client, 'price_logs');
  const [other] = await listPartitions(client, 'deliveries');
  const now = plusDays(oldest?.to ?? new Date(), 31);
  await expect(
    keep(now, 30, async (_, { table }) => {
      if (table === 'price_logs') throw new Error('the figures are locked');
    }),
  ).rejects.toThrow('the figures are locked');
  expect(await names()).toContain(oldest?.name);
  expect((await listPartitions(client, 'deliveries')).map(({ name }) => name)).not.toContain(other?.name);
  await keep(now, 30);
  expect(await names()).not.toContain(oldest?.name);
});

test('partitions of one table that cannot be created keep none of another from being created', async () => {
  const now = monthOf(new Date(), 20);
  const name = (table: string) => `${table}_${monthOf(now, 0).toISOString().slice(0, 7).replace('-', '_')}`;
  await client.query(`create table ${name('price_logs')} (is_in_the_way boolean)`);
  await expect(keep(now, 0)).rejects.toThrow('already exists');
  const found = await listPartitions(client, 'deliveries');
  expect(found.map((one) => one.name)).toContain(name('deliveries'));
  await client.query(`drop table ${name('price_logs')}`);
});

test('only one instance at a time maintains partitions', async () => {
  const [oldest] = await listPartitions(client, 'price_logs');
  const now = plusDays(oldest?.to ?? new Date(), 31);
  const ran = await Promise.all([keep(now, 30), keep(now, 30), keep(now, 30)]);
  expect(ran.flat().filter(({ table }) => table === 'price_logs')).toHaveLength(1);
});

test('a stop rolls back the work in progress', async () => {
  const [oldest] = await listPartitions(client, 'price_logs');
  const now = plusDays(oldest?.to ?? new Date(), 31);
  let isCounting = () => {};
  const counting = new Promise<void>((resolve) => {
    isCounting = resolve;
  });
  const stop = startRetention(
    retention(now, 30, async (tx) => {
      isCounting();
      await tx.execute(sql`select pg_sleep(1)`);
    }),
    { everyMs: 20 },
  );
  await counting;
  await stop();
  expect(lines.join('')).not.toContain('could not be looked after');
  expect(await names()).toContain(oldest?.name);
});

testEveryCase(
  'a backup contains the rows of all partitions, and a restore fills the partitions',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signal-board-retention-'));
    const name = `test_${randomBytes(8).toString('hex')}`;
    made.push(name);
    await here.database.pool.query(`create database ${name} template template0`);
    const target = { ...inject('testServer'), database: name };
    const restored = new pg.Client(target);
    try {
      const [oldest, next] = await listPartitions(client, 'price_logs');
      await insertAt(oldest?.from ?? new Date());
      await insertAt(next?.from ?? new Date());
      await insertAt(monthOf(new Date(), 500));
      await insertAt(plusDays(new Date(), -365));
      const path = join(folder, 'board.backup');
      const keys = { secretKey: 'k'.repeat(32), nextKey: null };
      await writeBackup({
        connection: here.database.connection,
        keys,
        path,
        now: new Date(),
      });
      const options = { connection: target, path, keys, now: new Date() };
      await restoreBackup({ ...options, replace: false });
      await migrateDatabase({ connection: target, log });
      await restored.connect();
      for (const table of ['price_logs', 'price_log_hashes', 'deliveries']) {
        const rows = async (one: pg.Client) =>
          (await one.query(`select t::text from ${table} as t order by 1`)).rows;
        expect(await rows(restored)).toEqual(await rows(client));
      }
      const [first] = await listPartitions(restored, 'price_logs');
      expect(first?.from).toBeNull();
      expect((await restored.query(`select from ${first?.name}`)).rowCount, 'a row of last year').toBe(1);
      await restored.end();
      // Also replaces tables that are already partitioned.
      await restoreBackup({ ...options, replace: true });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
