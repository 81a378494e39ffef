import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { MigrationMeta } from 'drizzle-orm/migrator';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { readMigrations } from '#server/platform/db/migrate.ts';
import { type DatabaseConnection, openPool } from '#server/platform/db/pool.ts';
import { StartError } from '#server/platform/db/start-error.ts';
import { createLog } from '#server/platform/log.ts';
import { keyCheckOf } from '#server/platform/secret-keys/key-state.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { untilQueueIsEmpty } from '#test/app/unfinished-jobs.ts';
import { type ExchangeWorld, startWorld } from '#test/world.ts';
import { LEFT_OUT } from './backup-file.ts';
import { restoreBackup } from './restore-backup.ts';
import { writeBackup } from './write-backup.ts';

const SECRET_KEY = 'a secret key of the tests, long enough';
const KEYS = { secretKey: SECRET_KEY, nextKey: null };

const made: string[] = [];

const folder = await mkdtemp(join(tmpdir(), 'signal-board-backup-'));
const server = new pg.Client({ ...inject('testServer'), database: 'postgres' });
await server.connect();
afterAll(async () => {
  for (const name of made) await server.query(`drop database if exists ${name} with (force)`);
  await server.end();
  await rm(folder, { recursive: true, force: true });
});

async function emptyDatabase(): Promise<DatabaseConnection> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  made.push(name);
  await server.query(`create database ${name} template template0`);
  return { ...inject('testServer'), database: name };
}

async function query<Row extends pg.QueryResultRow>(
  connection: DatabaseConnection,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** A digest of every table in a backup, without what a restore adds to the audit trail. */
async function digest(connection: DatabaseConnection): Promise<Record<string, string>> {
  const tables = await query<{ name: string }>(
    connection,
    `select relname as name from pg_class
     where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace`,
  );
  const rows = await query<{ name: string; digest: string }>(
    connection,
    tables
      .filter(({ name }) => !LEFT_OUT.includes(name))
      .map(
        ({ name }) =>
          `select '${name}' as name,
             count(*) || ' ' || coalesce(md5(string_agg(one::text, chr(10) order by one::text)), '') as digest
           from ${name} as one ${name === 'audit_log' ? "where action <> 'backup restored'" : ''}`,
      )
      .join(' union all '),
  );
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

/** Rewrites the list of migrations in a backup's header. */
async function changeMigrations(path: string, change: (hashes: string[]) => string[]): Promise<void> {
  const [first = '', ...lines] = gunzipSync(await readFile(path))
    .toString()
    .split('\n');
  const head = JSON.parse(first);
  const migrations = change(head.migrations);
  await writeFile(path, gzipSync([JSON.stringify({ ...head, migrations }), ...lines].join('\n')));
}

const backUp = (connection: DatabaseConnection, path: string) =>
  writeBackup({ connection, keys: KEYS, path, now: new Date() });

const restore = (
  connection: DatabaseConnection,
  path: string,
  more: { replace?: boolean; unverified?: boolean; migrations?: MigrationMeta[] } = {},
) => restoreBackup({ connection, path, keys: KEYS, replace: false, now: new Date(), ...more });

describe('a running board', () => {
  let board: ExchangeWorld;
  let source: DatabaseConnection;
  let trader: { id: string };

  beforeAll(async () => {
    board = await startWorld({ exchange: 'paper', engine: true, config: { webhookRateLimit: 0 } });
    source = await connectionOf(board);
    trader = await board.createTrader();
    for (const token of ['BTC', 'ETH']) await board.site.push(token, '100');
    await board.traded(await board.signal({ token: 'BTC', price: '100' }));
  });
  afterAll(() => board.close());

  test('is backed up consistently under load and keeps working', async () => {
    const path = join(folder, 'under-load.backup');
    let isBusy = true;
    let sent = 0;
    const load = (async () => {
      for (; isBusy; sent += 1) {
        await board.traded(await board.signal({ token: 'ZZZ', price: String(100 + sent) }));
      }
    })();
    await vi.waitFor(() => expect(sent).toBeGreaterThan(6), 30_000);
    await backUp(source, path);
    const sentAtEnd = sent;
    await vi.waitFor(() => expect(sent).toBeGreaterThan(sentAtEnd + 2), 30_000);
    isBusy = false;
    await load;

    const target = await emptyDatabase();
    await restore(target, path);
    // A transaction is in the backup completely or not at all.
    const [counts] = await query(
      target,
      `select (select count(*) from signals)::integer as signals, (select count(*) from workflows)::integer as workflows,
        (select count(*) from signal_hashes)::integer as hashes,
        (select count(*) from deliveries where result = 'stored' and kind = 'signal')::integer as deliveries`,
    );
    const signals = counts?.signals;
    expect(signals).toBeGreaterThan(5);
    expect(counts).toEqual({ signals, workflows: signals, hashes: signals, deliveries: signals });
    // No instance continues a restored workflow.
    expect(await query(target, `select from workflows where status in ('pending', 'processing')`)).toEqual(
      [],
    );
    await vi.waitFor(
      async () => {
        const rows = await query(source, `select from workflows where status in ('pending', 'processing')`);
        expect(rows).toEqual([]);
      },
      { timeout: 40_000, interval: 200 },
    );
  });

  test('is the same row by row after backup and restore, and a second restore warns before overwriting', async () => {
    let path = '';
    let before: Record<string, string> = {};
    let rows = 0;
    await query(
      source,
      `insert into closed_positions (id, trade_id, user_id, exchange_platform, exchange_position_id, token, side,
        quantity, entry_price, close_price, realised_profit, fees, closed_by, opened_at, closed_at, recorded_at)
       select gen_random_uuid(), id, user_id, exchange_platform, 'p-' || n, token, 'long', 1, 100, 104, 4.5, 0.25,
         'take profit', now(), now(), now() from trades, generate_series(1, 3) as n`,
    );
    const sums =
      'select token, positions, realised_profit, fees, profit_after_fees from closed_position_totals';
    expect(await query(source, sums)).toMatchObject([{ token: 'BTC', positions: '3', fees: '0.75' }]);
    // The board updates its list totals now and then and skips locked ones.
    const counting = new pg.Client(source);
    await counting.connect();
    try {
      await counting.query('begin');
      await counting.query('select from counted_lists for update');
      await vi.waitFor(
        async () => {
          path = join(folder, `quiet-${randomBytes(4).toString('hex')}.backup`);
          before = await digest(source);
          ({ rows } = await backUp(source, path));
          expect(await digest(source)).toEqual(before);
        },
        { timeout: 60_000, interval: 100 },
      );
    } finally {
      await counting.end();
    }
    const target = await emptyDatabase();
    const restored = await restore(target, path);
    expect(restored).toMatchObject({ rows, endedWorkflows: 0, ordersInDoubt: 0 });
    expect(Object.keys(before).length).toBeGreaterThan(15);
    expect(await digest(target)).toEqual(before);
    const entry = await query(
      target,
      `select actor_kind, after from audit_log where action = 'backup restored'`,
    );
    expect(entry).toEqual([{ actor_kind: 'command', after: { asOf: restored.createdAt, rows } }]);
    expect(await query(target, sums)).toEqual(await query(source, sums));
    const outcomes = `select outcome, count(*) from signal_outcomes group by 1 order by 1`;
    const counted = `select list, outcome, sum(rows) from (
      select list, outcome, rows from list_outcome_totals where month = '-infinity'
      union all select list, outcome, rows from list_outcome_changes) as counts group by 1, 2 order by 1, 2`;
    const orders = `select user_id, token, sum(orders) as orders, sum(filled) as filled from (
      select user_id, token, orders, filled from order_totals where grain = 'user detail' and span = 'month'
      union all select user_id, token, orders, filled from order_changes) as counts group by 1, 2 order by 1, 2`;
    for (const derived of [outcomes, counted, orders]) {
      expect(await query(source, derived)).not.toEqual([]);
      expect(await query(target, derived)).toEqual(await query(source, derived));
    }
    const byTriggers = [
      'closed_position_totals',
      'signal_outcomes',
      'list_outcome_totals',
      'list_outcome_changes',
      'trade_results',
      'performance_totals',
      'performance_days',
      'order_changes',
      'order_totals',
    ];
    const results = 'select * from trade_results order by id';
    expect(await query(target, results)).toEqual(await query(source, results));
    const figures = 'select * from performance_totals order by grain, span, user_id, token';
    expect(await query(target, figures)).toEqual(await query(source, figures));
    const days = 'select * from performance_days order by detail, value, user_id, since';
    expect(await query(target, days)).toEqual(await query(source, days));
    const empty = LEFT_OUT.filter((name) => !byTriggers.includes(name));
    const counts = empty.map((name) => `select '${name}' as name, count(*)::int as count from ${name}`);
    expect(await query(target, counts.join(' union all '))).toEqual(
      empty.map((name) => ({ name, count: 0 })),
    );
    await expect(restore(target, path)).rejects.toThrow('The database is not empty; add --replace');
    await query(target, 'delete from trade_events');
    await restore(target, path, { replace: true });
    expect(await digest(target)).toEqual(before);
    expect(await query(target, counted)).toEqual(await query(source, counted));
    await query(source, 'delete from closed_positions');
  });

  test('starts from a backup, finds later orders at the exchange, and orders nothing', async () => {
    const path = join(folder, 'in-flight.backup');
    const signalId = await board.signal({ token: 'ETH', price: '100' });
    await vi.waitFor(
      async () => {
        const rows = await query(source, `select from trades where token = 'ETH' and state <> 'done'`);
        expect(rows).toHaveLength(1);
      },
      { timeout: 20_000, interval: 5 },
    );
    await backUp(source, path);
    await board.traded(signalId);
    await board.stopProgram();
    const target = await emptyDatabase();
    expect(await restore(target, path)).toMatchObject({ ordersInDoubt: 1 });
    const ordersBefore = await board.site.exchangeOrders(trader.id);
    const database = openPool({ connection: target, log: createLog({ level: 'silent' }) });
    const again = await startWorld({ engine: true, config: board.config, database });
    await vi.waitFor(
      async () => {
        const rows = await query(
          target,
          `select fill_status, protection_status from trades where token = 'ETH'`,
        );
        expect(rows).toEqual([{ fill_status: 'filled', protection_status: 'verified' }]);
      },
      { timeout: 20_000, interval: 100 },
    );
    await untilQueueIsEmpty(database.db);
    expect(await board.site.exchangeOrders(trader.id)).toEqual(ordersBefore);
    expect((await again.app.inject('/readyz')).statusCode).toBe(200);
    await again.close();
  });
});

async function connectionOf(board: ExchangeWorld): Promise<DatabaseConnection> {
  const { rows } = await board.db.execute<{ name: string }>('select current_database() as name');
  return { ...inject('testServer'), database: rows[0]?.name ?? '' };
}

describe('a backup', () => {
  let path: string;
  let source: DatabaseConnection;

  beforeAll(async () => {
    source = await emptyDatabase();
    await expect(backUp(source, join(folder, 'nothing.backup'))).rejects.toThrow('the database is empty');
    const { database } = inject('testServer');
    const name = `test_${randomBytes(8).toString('hex')}`;
    made.push(name);
    await server.query(`create database ${name} template ${database}`);
    source = { ...inject('testServer'), database: name };
    await query(
      source,
      `insert into users (id, username, username_key, password_hash, is_test_user, created_at, updated_at)
       values (gen_random_uuid(), E'a "name"\\n{"table":"users"}', 'a', 'hash', false, now(), now())`,
    );
    await query(
      source,
      `insert into engine_restarts (requested_by, requested_at) select id, now() from users;
       insert into price_logs (id, hook_id, owner_user_id, from_admin, token, timeframe, price, currency,
         candle_time_tradingview, candle_time_server, received_at, source_ip, hash_value, parameters)
       select id, id, id, true, 'BTC', '15', 123456789012345678901234.000000000000000000012345, 'USDT', '', now(), now(), '::1', 'ab01',
         '{"text": "a\\nb \\u2028", "big": 12345678901234567890.10, "list": [1, null]}' from users`,
    );
  });
  beforeEach(async () => {
    path = join(folder, `${randomBytes(4).toString('hex')}.backup`);
    await backUp(source, path);
  });

  test('is readable only by its owner and contains no secret key', async () => {
    expect((await stat(path)).mode & 0o077).toBe(0);
    expect(gunzipSync(await readFile(path)).toString()).not.toContain(SECRET_KEY);
  });

  testEveryCase('keeps texts that look like its own control lines', async () => {
    const target = await emptyDatabase();
    await restore(target, path);
    expect(await query(target, 'select username from users')).toEqual(
      await query(source, 'select username from users'),
    );
  });

  testEveryCase('is refused when truncated, and the database stays unchanged', async () => {
    const target = await emptyDatabase();
    const { length } = await readFile(path);
    await truncate(path, length - 20);
    await expect(restore(target, path)).rejects.toThrow('cannot be read: unexpected end of file');
    const lines = ['{"format":"x"}', ''].join('\n');
    expect(await query(target, `select from pg_class where relname = 'users'`)).toEqual([]);
    await writeFile(path, gzipSync(lines));
    await expect(restore(target, path)).rejects.toThrow('is not a backup of Signal Board');
  });

  test('is refused when a row or the last line is missing', async () => {
    const target = await emptyDatabase();
    const lines = gunzipSync(await readFile(path))
      .toString()
      .trimEnd()
      .split('\n');
    const withoutRow = lines.filter((line) => !line.startsWith(' {'));
    await writeFile(path, gzipSync(`${withoutRow.join('\n')}\n`));
    await expect(restore(target, path, { unverified: true })).rejects.toThrow('is damaged: rows are missing');
    await writeFile(path, gzipSync(`${lines.slice(0, -2).join('\n')}\n`));
    await expect(restore(target, path)).rejects.toThrow('is not whole: its end is missing');
    expect(await query(target, `select from pg_class where relname = 'users'`)).toEqual([]);
  });

  const changeLines = async (change: (lines: string[]) => string[]) => {
    const lines = gunzipSync(await readFile(path))
      .toString()
      .trimEnd()
      .split('\n');
    await writeFile(path, gzipSync(`${change(lines).join('\n')}\n`));
  };
  const isSignature = (line: string) => line.startsWith('{"seal":');
  const makeAdministrator = (line: string) => line.replace('"is_admin":false', '"is_admin":true');

  test('is verified, and restores without a flag', async () => {
    expect(await restore(await emptyDatabase(), path)).toMatchObject({ isVerified: true });
  });

  test.each(
    firstCases([
      [
        'in which a user was made an administrator',
        (lines: string[]) => lines.map(makeAdministrator),
        'was changed',
      ],
      [
        'whose header was changed',
        ([head = '', ...lines]: string[]) => [head.replace(/"createdAt":"20/, '"createdAt":"19'), ...lines],
        'was changed',
      ],
      [
        'whose signature was taken away',
        (lines: string[]) => lines.filter((line) => !isSignature(line)).map(makeAdministrator),
        'has no signature',
      ],
      [
        'whose signature is of another key',
        (lines: string[]) => lines.map((line) => (isSignature(line) ? `{"seal":"${'0'.repeat(64)}"}` : line)),
        'was changed',
      ],
    ] as const),
  )('%s is refused before anything is written, and restored only on request', async (_what, change, why) => {
    const target = await emptyDatabase();
    await changeLines((lines) => change(lines));
    await expect(restore(target, path)).rejects.toThrow(why);
    expect(await query(target, `select from pg_class where relname = 'users'`)).toEqual([]);
    expect(await restore(target, path, { unverified: true })).toMatchObject({ isVerified: false });
  });

  testEveryCase.each([
    ['signs somebody in', '{"table":"sessions"}'],
    ['is no table', '{"table":"pg_class"}'],
    ['is there already', '{"table":"users"}'],
    ['is a part of one', '{"table":"price_logs_default"}'],
  ])('with a section that %s is refused, also unverified', async (_what, section) => {
    const target = await emptyDatabase();
    await changeLines((lines) => [...lines.slice(0, -2), section, ...lines.slice(-2)]);
    await expect(restore(target, path, { unverified: true })).rejects.toThrow(
      'has a table that no backup has',
    );
    expect(await query(target, `select from pg_class where relname = 'users'`)).toEqual([]);
  });

  test.each([
    [
      'a table without a name',
      (lines: string[]) => [...lines.slice(0, -2), '{"table":"A b"}', ...lines.slice(-2)],
      'has no name',
    ],
    [
      'something after its end',
      (lines: string[]) => [...lines, '{"table":"users"}'],
      'something follows its end',
    ],
    [
      'something before its signature',
      (lines: string[]) => [...lines.slice(0, -1), ' {}', ...lines.slice(-1)],
      'something follows its end',
    ],
  ] as const)('with %s is refused, also unverified', async (_what, change, why) => {
    await changeLines((lines) => change(lines));
    await expect(restore(await emptyDatabase(), path, { unverified: true })).rejects.toThrow(why);
  });

  test('with another secret key is refused unless explicitly allowed', async () => {
    const target = await emptyDatabase();
    const options = { connection: target, path, replace: false, now: new Date() };
    await expect(restoreBackup({ ...options, keys: { ...KEYS, secretKey: 'k'.repeat(32) } })).rejects.toThrow(
      'The backup was made with another SECRET_KEY',
    );
    await expect(restoreBackup({ ...options, keys: null })).rejects.toThrow(
      'Without the SECRET_KEY of the backup nobody can tell whether',
    );
    expect(await query(target, `select from pg_class where relname = 'users'`)).toEqual([]);
    expect(await restoreBackup({ ...options, keys: null, unverified: true })).toMatchObject({
      isVerified: false,
    });
    const [check] = await query(target, 'select key_check from secret_key_checks');
    expect(check, 'the next start brings its own').toEqual({ key_check: null });
  });

  const forgetKeys = async () => void (await query(source, 'delete from secret_key_checks'));

  testEveryCase(
    'from a rotation of the secret key needs both keys, and the rotation goes on from there',
    async () => {
      const nextKey = 'the next secret key of these tests, long enough';
      const [own, next] = [keyCheckOf(SECRET_KEY), keyCheckOf(nextKey)];
      onTestFinished(() => forgetKeys());
      await query(source, 'insert into secret_key_checks (key_check, next_key_check) values ($1, $2)', [
        own,
        next,
      ]);
      const both = { secretKey: SECRET_KEY, nextKey };
      await writeBackup({ connection: source, keys: both, path, now: new Date() });
      const target = await emptyDatabase();
      const options = { connection: target, path, replace: false, now: new Date() };
      await expect(restoreBackup({ ...options, keys: KEYS })).rejects.toThrow(
        'The backup was made while SECRET_KEY was rotated',
      );
      await restoreBackup({ ...options, keys: both });
      const state = 'select key_check, next_key_check from secret_key_checks';
      expect(await query(target, state)).toEqual([{ key_check: own, next_key_check: next }]);
    },
  );

  testEveryCase(
    'from after a rotation is under the next key, also where the former one is still set',
    async () => {
      const nextKey = 'the next secret key of these tests, long enough';
      const next = keyCheckOf(nextKey);
      onTestFinished(() => forgetKeys());
      await query(source, 'insert into secret_key_checks (key_check) values ($1)', [next]);
      const both = { secretKey: SECRET_KEY, nextKey };
      await writeBackup({ connection: source, keys: both, path, now: new Date() });
      const options = { connection: await emptyDatabase(), path, now: new Date() };
      await expect(restoreBackup({ ...options, replace: false, keys: KEYS })).rejects.toThrow(
        'The backup was made with another SECRET_KEY',
      );
      await restoreBackup({ ...options, replace: false, keys: { secretKey: nextKey, nextKey: null } });
      await restoreBackup({ ...options, replace: true, keys: both });
      const state = 'select key_check, next_key_check from secret_key_checks';
      expect(await query(options.connection, state)).toEqual([{ key_check: next, next_key_check: null }]);
    },
  );

  test('of a newer version is refused', async () => {
    await changeMigrations(path, (hashes) => [...hashes, 'a migration that is not known']);
    await expect(restore(await emptyDatabase(), path)).rejects.toThrow(
      'a schema that this version does not know',
    );
  });

  testEveryCase('that is older than the baseline is refused', async () => {
    await changeMigrations(path, () => ['a migration that was replaced', 'and another one']);
    const target = await emptyDatabase();
    await expect(restore(target, path)).rejects.toThrow(
      new StartError(`${path} was made by an older version; only that version can restore it`),
    );
    expect(await query(target, `select from pg_class where relname = 'users'`)).toEqual([]);
  });

  test('of an older version is migrated', async () => {
    const next: MigrationMeta = {
      sql: ['alter table users add column note text', `update users set note = 'from before'`],
      hash: 'of the next version',
      folderMillis: Date.now(),
      bps: true,
    };
    const target = await emptyDatabase();
    await restore(target, path, { migrations: [...readMigrations(), next] });
    expect(await query(target, 'select note from users')).toEqual([{ note: 'from before' }]);
    const hashes = await query(target, 'select hash from drizzle.__drizzle_migrations order by id');
    expect(hashes.map(({ hash }) => hash)).toEqual([...readMigrations(), next].map(({ hash }) => hash));
    await query(target, 'alter table users drop column note');
    // The entry about the restore is the first that needs a key.
    const audit_keys = expect.stringMatching(/^1 /);
    expect(await digest(target)).toEqual({ ...(await digest(source)), audit_keys });
  });

  test('does not replace a database that is in use', async () => {
    const database = openPool({ connection: source, log: createLog({ level: 'silent' }) });
    await database.pool.query('select 1');
    await expect(restore(source, path, { replace: true })).rejects.toThrow('Signal Board is running');
    await database.close();
  });
});
