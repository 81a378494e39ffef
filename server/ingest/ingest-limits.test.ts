import pg from 'pg';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import type { Delivery } from '#contract/hooks.ts';
import { TRADINGVIEW_ADDRESSES } from '#server/platform/config/config-settings.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import type { Answer } from '#test/app/test-client.ts';
import { CANDLE, createSender, SIGNAL, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, type World, type WorldOptions } from '#test/world.ts';
import { createReceiver } from './receive-delivery.ts';

let board: World;
const atTheEnd: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
  await board.close();
});

async function start(options: WorldOptions = {}): Promise<TestSender> {
  board = await startWorld(options);
  return createSender({ app: board.app, client: board.admin });
}

const query = (statement: string) => board.database.pool.query(statement);

function expectSendAgain(answer: Answer) {
  expect(answer.statusCode).toBe(503);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(answer.json()).toEqual({ success: false, message: expect.stringMatching(/Send it again\.$/) });
}

const storedSignals = async () => (await board.admin.get('/api/signals')).json().total;

async function results(sender: TestSender): Promise<string[]> {
  const answer = await board.admin.get(`/api/hooks/${sender.hook.id}/deliveries`);
  return answer.json<Delivery[]>().map(({ result }) => result);
}

/** A connection outside the app. */
async function connectAside(database?: string): Promise<pg.Client> {
  const connection = { ...inject('testServer'), ...(database === undefined ? {} : { database }) };
  const client = new pg.Client(connection);
  await client.connect();
  atTheEnd.push(() => client.end());
  return client;
}

async function databaseName(): Promise<string> {
  return (await query('select current_database() as name')).rows[0].name;
}

// Requirements: settings-of-the-program-12, webhook-deliveries-14
test('answers 503 to a key over its limit and logs it, while other keys are served', async () => {
  const sender = await start({ config: { webhookRateLimit: 3 } });
  const { client } = await board.createUser();
  const other = await createSender({ app: board.app, client });
  expect((await sender.signal()).statusCode).toBe(200);
  expect((await sender.candle()).statusCode).toBe(200);
  expect((await sender.send('trading_view_signal', 'refused')).statusCode).toBe(400);
  expectSendAgain(await sender.signal({ price: '2' }));
  expectSendAgain(await sender.send('trading_view_signal', 'refused'));
  expect((await other.signal()).statusCode).toBe(200);
  expect(await results(sender)).toEqual(['limited', 'limited', 'refused', 'stored', 'stored']);
  expect(await storedSignals()).toBe(2);
});

// Requirements: settings-of-the-program-13
test('applies the limit to all instances together', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  atTheEnd.push(async () => vi.useRealTimers());
  const sender = await start({ config: { webhookRateLimit: 4 } });
  const elsewhere = createReceiver(board.deps);
  const deliver = async (price: string) => {
    const { outcome } = await elsewhere.receive({
      kind: 'signal',
      key: sender.hook.hookKey,
      body: Buffer.from(JSON.stringify({ ...SIGNAL, price })),
      sourceIp: '127.0.0.1',
    });
    return outcome;
  };
  for (const price of ['1', '2', '3']) expect((await sender.signal({ price })).statusCode).toBe(200);
  expect(await deliver('4')).toBe('stored');
  expect(await deliver('5')).toBe('limited');
  // The first instance learns of it within a second, and a new instance continues the count.
  vi.advanceTimersByTime(1_000);
  expectSendAgain(await sender.signal({ price: '6' }));
  expect(await storedSignals()).toBe(4);
});

test('counts neither limited deliveries nor those of another minute, however the clock has moved', async () => {
  const sender = await start({ config: { webhookRateLimit: 3 } });
  // Rows from before the clock went back an hour, and rows whose ids are ahead of their receipt after a change.
  await board.database.pool.query(
    `insert into deliveries (id, hook_id, kind, result, source_ip, received_at)
     select (lpad(to_hex((extract(epoch from now() + line.made) * 1000)::bigint), 12, '0')
         || '7000' || 'a000' || lpad(to_hex(n), 12, '0'))::uuid,
       $1, 'signal', line.result, '52.89.214.238', now() + line.received
     from generate_series(1, 5) as n, (values
       ('stored', interval '1 hour', interval '1 hour'),
       ('stored', interval '0', interval '-2 minutes'),
       ('limited', interval '1 millisecond', interval '0')) as line (result, made, received)`,
    [sender.hook.id],
  );
  const answers = [];
  for (const price of ['1', '2', '3', '4']) answers.push((await sender.signal({ price })).statusCode);
  expect(answers).toEqual([200, 200, 200, 503]);
});

describe('refused and limited deliveries', () => {
  const rowsOf = async (sender: TestSender) =>
    (await board.admin.get(`/api/hooks/${sender.hook.id}/deliveries`)).json<Delivery[]>();
  const refuse = (sender: TestSender, times: number) =>
    Promise.all(Array.from({ length: times }, () => sender.send('trading_view_signal', 'refused')));

  test('get ten rows a minute and webhook, and one that counts the rest, on all instances together', async () => {
    const clock = fakeClock(new Date('2026-11-28T10:00:30Z'));
    const sender = await start({ clock, config: { webhookRateLimit: 30 } });
    await refuse(sender, 50);
    await board.deps.receiver.idle();
    await refuse(sender, 7);
    await board.deps.receiver.idle();
    const rows = await rowsOf(sender);
    expect(rows).toHaveLength(11);
    expect(rows.filter(({ more }) => more !== null)).toMatchObject([
      { result: 'refused', more: 47, receivedAt: '2026-11-28T10:00:00.000Z' },
    ]);

    const elsewhere = createReceiver({ ...board.deps, config: { webhookRateLimit: 0 } });
    for (let count = 1; count <= 13; count += 1) {
      const body = Buffer.from('refused');
      await elsewhere.receive({ kind: 'candle', key: sender.hook.hookKey, body, sourceIp: '::1' });
    }
    await elsewhere.idle();
    expect((await rowsOf(sender)).flatMap(({ more }) => more ?? [])).toEqual([50]);

    clock.advance(60_000);
    await refuse(sender, 1);
    expect(await rowsOf(sender)).toHaveLength(22);
  });

  testEveryCase(
    'count against the limit on other instances too, even without a row of their own',
    async () => {
      const sender = await start({ config: { webhookRateLimit: 30 } });
      await refuse(sender, 29);
      await board.deps.receiver.idle();
      const elsewhere = createReceiver(board.deps);
      const outcomes = [];
      for (const price of ['1', '2']) {
        const body = Buffer.from(JSON.stringify({ ...SIGNAL, price }));
        const key = sender.hook.hookKey;
        outcomes.push((await elsewhere.receive({ kind: 'signal', key, body, sourceIp: '::1' })).outcome);
      }
      expect(outcomes).toEqual(['stored', 'limited']);
      await elsewhere.idle();
    },
  );
});

test('does not count deliveries with unknown keys against any limit', async () => {
  const sender = await start({ config: { webhookRateLimit: 1 } });
  for (let times = 0; times < 20; times += 1) {
    expect((await sender.signal({}, { query: `?hkid=unknown${times}` })).statusCode).toBe(401);
  }
  expect((await sender.signal()).statusCode).toBe(200);
});

test('reports only stored deliveries, not refused, limited, duplicate or unknown ones', async () => {
  const sender = await start({ config: { webhookRateLimit: 6 } });
  const stored: number[] = [];
  const receiver = createReceiver(board.deps, (count) => stored.push(count));
  const deliver = (
    payload: object | string,
    key = sender.hook.hookKey,
    kind: 'signal' | 'candle' = 'signal',
  ) => receiver.receive({ kind, key, body: Buffer.from(JSON.stringify(payload)), sourceIp: '127.0.0.1' });
  const told = () => stored.splice(0).reduce((sum, count) => sum + count, 0);
  await deliver(SIGNAL);
  expect(told()).toBe(1);
  await deliver(SIGNAL);
  await deliver('refused');
  await deliver({ ...SIGNAL, price: '2' }, 'no key of ours');
  expect(told()).toBe(0);
  await deliver(CANDLE, sender.hook.hookKey, 'candle');
  expect(told()).toBe(1);
  await deliver(CANDLE, sender.hook.hookKey, 'candle');
  expect(told()).toBe(0);
  await Promise.all(['3', '4', '5'].map((price) => deliver({ ...SIGNAL, price })));
  expect(told()).toBe(1);
});

// Requirements: webhook-deliveries-15
test('lets one address send as much as its keys may, because TradingView alerts share a few addresses', async () => {
  await start({ config: { webhookRateLimit: 2 } });
  const senders: TestSender[] = [];
  for (let count = 0; count < 5; count += 1) {
    const { client } = await board.createUser();
    senders.push(await createSender({ app: board.app, client }));
  }
  const answers = await Promise.all(
    senders.flatMap((one) => [one.signal(), one.candle()].map((answer) => answer)),
  );
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(10).fill(200));
});

// Requirements: settings-of-the-program-12
test('refuses deliveries from outside the allow-list without reading them', async () => {
  const sender = await start({ config: { webhookAllowedIps: [...TRADINGVIEW_ADDRESSES, '10.0.0.0/8'] } });
  for (const remoteAddress of ['52.89.214.239', '127.0.0.1', '11.0.0.1', '2001:db8::1']) {
    const answer = await sender.signal({}, { remoteAddress });
    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toEqual({
      success: false,
      message: 'Deliveries from this address are not accepted',
    });
    const headers = { 'x-forwarded-for': '52.89.214.238' };
    expect((await sender.signal({}, { remoteAddress, headers })).statusCode).toBe(403);
  }
  expect(await results(sender)).toEqual([]);
  for (const remoteAddress of [...TRADINGVIEW_ADDRESSES, '10.1.2.3', '::ffff:52.32.178.7']) {
    expect((await sender.signal({}, { remoteAddress })).statusCode).toBe(200);
  }
});

test('uses the sender’s own address behind trusted proxies, even with a port', async () => {
  const sender = await start({
    config: {
      webhookAllowedIps: ['52.89.214.238', '2001:db8::/32'],
      trustProxy: ['127.0.0.1', '10.0.0.0/8'],
    },
  });
  for (const [forwarded, status] of [
    ['52.89.214.238', 200],
    ['52.89.214.239', 403],
    ['52.89.214.238:5678', 200],
    ['198.51.100.1, 52.89.214.238:5678, 10.0.0.2:1234', 200],
    ['198.51.100.1, [2001:db8::1]:443, 10.0.0.2:1234', 200],
    ['52.89.214.238, 198.51.100.1:5678, 10.0.0.2', 403],
  ] as const) {
    const answer = await sender.signal({}, { headers: { 'x-forwarded-for': forwarded } });
    expect(answer.statusCode, forwarded).toBe(status);
  }
});

test.each(
  oneOfEachKind(
    [
      ['signal', 'signals'],
      ['signal', 'workflows'],
      ['signal', 'signal_hashes'],
      ['signal', 'deliveries'],
      ['signal', 'jobs.job_common'],
      ['signal', 'hooks'],
      ['candle', 'price_logs'],
    ] as const,
    ([, table]) => ['signals', 'jobs.job_common', 'price_logs'].includes(table),
  ),
)(
  'answers 503 to a %s without the table %s, stores nothing of it, and stores it when sent again',
  async (kind, table) => {
    const sender = await start();
    const [schema, name] = table.includes('.') ? table.split('.') : ['public', table];
    // A table is altered only while nothing writes.
    await board.deps.receiver.idle();
    await query(`alter table ${schema}.${name} rename to gone`);
    expectSendAgain(await sender[kind]());
    await board.deps.receiver.idle();
    await query(`alter table ${schema}.gone rename to ${name}`);
    const counts = await query(`select
      (select count(*) from signals) as signals, (select count(*) from workflows) as workflows,
      (select count(*) from signal_hashes) as hashes, (select count(*) from price_log_hashes) as candles,
      (select count(*) from deliveries) as deliveries,
      (select count(*) from jobs.job where name = 'run-workflow') as jobs`);
    expect(new Set(Object.values(counts.rows[0]))).toEqual(new Set(['0']));
    expect((await sender[kind]()).json()).toMatchObject({ success: true, duplicate: false });
    expect(board.logged()).toContain('a delivery could not be stored');
  },
);

// Requirements: webhook-deliveries-14
test('answers 503 while the database takes no connections, and stores deliveries when it is back', async () => {
  const sender = await start();
  const name = await databaseName();
  const server = await connectAside('postgres');
  const allow = (allowed: boolean) => server.query(`alter database ${name} allow_connections ${allowed}`);
  await allow(false);
  const drop = 'select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1';
  await server.query(drop, [name]);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => sender.signal({ price: `${n + 1}` })),
  );
  for (const answer of answers) expectSendAgain(answer);
  await allow(true);
  expect((await sender.signal({ price: '1' })).json()).toMatchObject({ duplicate: false });
  expect(await storedSignals()).toBe(1);
});

testEveryCase(
  'answers 503 when the database does not answer, and treats a retry of what it stored later as a duplicate',
  async () => {
    const sender = await start();
    const blocker = await connectAside(await databaseName());
    await blocker.query('begin');
    await blocker.query('lock table signals in access exclusive mode');
    expectSendAgain(await sender.signal());
    await blocker.query('rollback');
    await vi.waitFor(async () => expect(await storedSignals()).toBe(1), { timeout: 10_000 });
    const { signals } = (await board.admin.get('/api/signals')).json();
    expect((await sender.signal()).json()).toEqual({ success: true, id: signals[0].id, duplicate: true });
  },
);
