import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { type DatabaseProxy, startDatabaseProxy } from '#test/faults/database-proxy.ts';
import { ALL_WORKERS, startWorld, type World } from '#test/world.ts';
import { openPool } from './platform/db/pool.ts';
import { createLog } from './platform/log.ts';

// The whole program behind a network that swallows everything: no refusal, no reset, no answer.

/** TradingView hangs up after three seconds. */
const PATIENCE_MS = 3_000;
const ANSWER_MS = 3_000;
/** A load balancer gives up after two seconds. */
const READY_PATIENCE_MS = 2_000;
/** Long enough for the program itself on a busy machine. */
const IDLE_IN_TRANSACTION_MS = 2_500;

let network: DatabaseProxy;
let world: World;
let sender: TestSender;
let database: string;
let observer: pg.Client;

beforeEach(async () => {
  const server = inject('testServer');
  database = `test_${randomBytes(8).toString('hex')}`;
  observer = new pg.Client({ ...server, database: 'postgres' });
  await observer.connect();
  await observer.query(`create database ${database} template ${server.database}`);
  network = await startDatabaseProxy(server);
  const connection = { ...server, host: '127.0.0.1', port: network.port, database };
  world = await startWorld({
    engine: true,
    mostWorkers: ALL_WORKERS,
    database: openPool({
      connection,
      log: createLog({ level: 'silent' }),
      limits: { answerMs: ANSWER_MS, idleInTransactionMs: IDLE_IN_TRANSACTION_MS },
    }),
  });
  sender = await createSender({ app: world.app, client: world.admin });
});

afterEach(async () => {
  network.setMode({ kind: 'pass' });
  await Promise.race([world.close(), sleep(4_000, null, { ref: false })]);
  await network.close();
  await observer.query(`drop database ${database} with (force)`);
  await observer.end();
});

async function send(price: number): Promise<{ status: number; ms: number }> {
  const startedMs = performance.now();
  const { statusCode } = await sender.signal({ price: String(price) });
  return { status: statusCode, ms: performance.now() - startedMs };
}

/** Open transactions of the program that do nothing. */
async function leaked(): Promise<number> {
  const { rows } = await observer.query(
    `select count(*)::integer as count from pg_stat_activity
     where datname = $1 and state like 'idle in transaction%'
       and state_change < now() - make_interval(secs => ${(IDLE_IN_TRANSACTION_MS * 2) / 1000})`,
    [database],
  );
  return rows[0].count;
}

test('answers deliveries with 503 in time while the network swallows everything, and stores them within seconds of its end', async () => {
  expect((await send(1)).status).toBe(200);
  network.setMode({ kind: 'black-hole' });
  const askedAt = performance.now();
  expect((await world.app.inject('/readyz')).statusCode).toBe(503);
  expect(performance.now() - askedAt).toBeLessThan(READY_PATIENCE_MS);
  const answers = [];
  for (let batch = 0; batch < 4; batch += 1) {
    answers.push(...(await Promise.all([1, 2, 3].map((n) => send(100 + batch * 10 + n)))));
  }
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503));
  expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(PATIENCE_MS);

  network.setMode({ kind: 'pass' });
  await vi.waitFor(async () => expect((await send(100)).status).toBe(200), {
    timeout: 10_000,
    interval: 100,
  });
  await vi.waitFor(async () => expect((await world.app.inject('/readyz')).statusCode).toBe(200), 10_000);
  expect((await world.admin.get('/api/signals')).statusCode).toBe(200);
  for (let n = 0; n < 10; n += 1) expect((await send(200 + n)).status).toBe(200);
  await vi.waitFor(async () => expect(await leaked()).toBe(0), { timeout: 10_000, interval: 200 });
});

test('answers 503 to a screen’s call while the database is silent, and works again afterwards', async () => {
  network.setMode({ kind: 'black-hole' });
  const answer = await world.admin.get('/api/signals');
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toEqual({ message: 'The service is not available at the moment' });
  network.setMode({ kind: 'pass' });
  await vi.waitFor(async () => expect((await world.admin.get('/api/signals')).statusCode).toBe(200), {
    timeout: 20_000,
    interval: 100,
  });
});

test('ends a transaction whose program has fallen silent, so that its locks are free', async () => {
  const { pool } = world.deps;
  const client = await pool.connect();
  client.on('error', () => {});
  await client.query('begin');
  await client.query('lock table signals in access exclusive mode');
  network.setMode({ kind: 'black-hole' });
  const aside = new pg.Client({ ...inject('testServer'), database });
  await aside.connect();
  await aside.query(`set lock_timeout = '${IDLE_IN_TRANSACTION_MS * 4}ms'`);
  await aside.query('lock table signals in access exclusive mode').catch((error: Error) => {
    // Outside a transaction the lock itself is refused, once it is available.
    expect(error.message).toContain('transaction block');
  });
  const { rows } = await aside.query('select count(*) from signals');
  expect(rows).toEqual([{ count: '0' }]);
  await aside.end();
  client.release(true);
});
