import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../app/test-database.ts';
import { type DatabaseProxy, startDatabaseProxy } from './database-proxy.ts';

const TIMEOUT_MS = 300;

let own: TestDatabase;
let proxy: DatabaseProxy;
let table: string;

beforeEach(async () => {
  own = await createTestDatabase();
  proxy = await startDatabaseProxy(inject('testServer'));
  table = `marks_${randomBytes(4).toString('hex')}`;
  await own.database.pool.query(`create table ${table} (value text)`);
});
afterEach(async () => {
  await proxy.close();
  await own.close();
});

async function connect(timeoutMs = 0): Promise<pg.Client> {
  const client = new pg.Client({
    ...own.database.connection,
    host: '127.0.0.1',
    port: proxy.port,
    connectionTimeoutMillis: timeoutMs,
  });
  client.on('error', () => {});
  await client.connect();
  return client;
}

const stored = async () =>
  (await own.database.pool.query<{ value: string }>(`select value from ${table}`)).rows.map(
    ({ value }) => value,
  );

const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    () => 'failed',
  );

/** The outcome of a statement whose bytes are lost; 'silent' as long as it has none. */
async function outcomeOfLost(work: Promise<unknown>): Promise<string> {
  let outcome = 'silent';
  void outcomeOf(work).then((now) => {
    outcome = now;
  });
  await expect.poll(proxy.lostBytes).toBeGreaterThan(0);
  // Other statements are answered meanwhile.
  await stored();
  return outcome;
}

test("a 'before' trap stops the statement, an 'after' trap only its answer", async () => {
  for (const [at, rows] of [
    ['before', []],
    ['after', ['kept']],
  ] as const) {
    const client = await connect();
    await client.query('begin');
    await client.query(`insert into ${table} values ($1)`, ['kept']);
    let struck = 0;
    proxy.setTrap({
      at,
      matches: ({ text, transaction }) => /^Q[\s\S]{4}commit/.test(text) && transaction.includes('kept'),
      strike: () => (struck += 1),
    });
    // The proxy records a transaction only while a trap is set, so send the text again.
    await client.query(`select 'kept'`);
    expect(await outcomeOf(client.query('commit')), at).toBe('failed');
    expect(struck, at).toBe(1);
    expect(await stored(), at).toEqual(rows);
  }
});

test('a black hole neither answers nor fails; only new connections work afterwards', async () => {
  const client = await connect();
  proxy.setMode({ kind: 'black-hole' });
  const waiting = client.query('select 1');
  expect(await outcomeOfLost(waiting)).toBe('silent');
  await expect(connect(TIMEOUT_MS)).rejects.toThrow('timeout');
  proxy.setMode({ kind: 'pass' });
  expect(await outcomeOfLost(waiting)).toBe('silent');
  await (await connect()).end();
});

test('answers held back arrive with the next mode', async () => {
  const client = await connect();
  proxy.setMode({ kind: 'hold' });
  const waiting = client.query('select 1');
  await expect.poll(proxy.heldBytes).toBeGreaterThan(0);
  proxy.setMode({ kind: 'pass' });
  await waiting;
  await client.end();
});

test('a forgotten connection stays silent while a new one works', async () => {
  const client = await connect();
  proxy.forget();
  expect(await outcomeOfLost(client.query('select 1'))).toBe('silent');
  const other = await connect();
  await other.query('select 1');
  await other.end();
});

test('refuses connections and accepts them again on the same port', async () => {
  const client = await connect();
  await proxy.refuse();
  expect(await outcomeOf(client.query('select 1'))).toBe('failed');
  await expect(connect()).rejects.toThrow('ECONNREFUSED');
  await proxy.accept();
  await (await connect()).end();
});

test('a slow network delays every message', async () => {
  const client = await connect();
  proxy.setMode({ kind: 'delay', ms: 60 });
  const since = performance.now();
  await client.query('select 1');
  expect(performance.now() - since).toBeGreaterThan(119);
  await client.end();
});
