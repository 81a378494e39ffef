import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { startServerProcess, type TestServerProcess } from '#test/test-server-process.ts';

// Real programs on one PostgreSQL behind a load balancer, as compose.yaml has them.

const ADMIN = { username: 'admin@example.com', password: 'correct horse battery' };
const NAMES = ['one', 'two'] as const;

let database: string;
let server: pg.Client;
let balancer: Server;
let address: string;
const instances = new Map<string, TestServerProcess>();

beforeAll(async () => {
  server = new pg.Client({ ...inject('testServer'), database: 'postgres' });
  await server.connect();
  database = `test_${randomBytes(8).toString('hex')}`;
  // Empty: the two make its tables together, under their lock.
  await server.query(`create database ${database} template template0`);
  balancer = createBalancer();
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`;
  await Promise.all(NAMES.map(start));
});
afterAll(async () => {
  await Promise.all([...instances.values()].map((instance) => instance.stop()));
  balancer.close();
  await server.query(`drop database ${database} with (force)`);
  await server.end();
});

async function start(name: string): Promise<void> {
  const { host, port, user } = inject('testServer');
  const instance = await startServerProcess({
    env: {
      DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
      SECRET_KEY: 'a secret key of the tests, long enough',
      INSTANCE_ID: name,
      WEBHOOK_RATE_LIMIT: '0',
      LOG_LEVEL: 'warn',
      // Every workflow ends at its second step: what is done with a signal is not the question here.
      APP_ENV: 'development',
      VERIFY_FIRST_MS: '200',
      VERIFY_SECOND_MS: '200',
    },
  });
  instances.set(name, instance);
}

/** In turn, and to the next one when a connection cannot be made. */
function createBalancer(): Server {
  let turn = 0;
  return createServer((client) => {
    client.on('error', () => {});
    turn += 1;
    const running = [...instances.values()].map(({ url }) => Number(new URL(url).port));
    const ports = running.map((_, index) => running[(turn + index) % running.length]);
    const tryNext = () => {
      const port = ports.shift();
      if (port === undefined) return client.destroy();
      const upstream = connect({ host: '127.0.0.1', port });
      let isConnected = false;
      upstream.once('connect', () => {
        isConnected = true;
        client.pipe(upstream).pipe(client);
      });
      upstream.once('error', () => (isConnected ? client.destroy() : tryNext()));
      client.once('close', () => upstream.destroy());
    };
    tryNext();
  });
}

async function call(
  path: string,
  options: { cookie?: string; body?: unknown; at?: string | undefined } = {},
): Promise<Response> {
  const { cookie, body, at = address } = options;
  return await fetch(`${at}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      connection: 'close',
      origin: at,
      ...(cookie === undefined ? {} : { cookie }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function signIn(at = address): Promise<string> {
  const answer = await call('/api/auth/login', { body: ADMIN, at });
  expect(answer.status).toBe(200);
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

async function query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
  const client = new pg.Client({ ...inject('testServer'), database });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

test('instances that start together make the tables once and create one administrator', async () => {
  expect(await query('select username from users')).toEqual([{ username: ADMIN.username }]);
  expect(
    await query(
      'select count(*)::integer as n, count(distinct hash)::integer as d from drizzle.__drizzle_migrations',
    ),
  ).toEqual(
    await query('select count(*)::integer as n, count(*)::integer as d from drizzle.__drizzle_migrations'),
  );
});

test('a session, its end and the limit of failed passwords hold at every instance', async () => {
  const [one, two] = NAMES.map((name) => instances.get(name)?.url ?? '');
  const cookie = await signIn(one);
  expect((await call('/api/signals', { cookie, at: two })).status).toBe(200);
  await call('/api/auth/logout', { cookie, body: {}, at: two });
  expect((await call('/api/signals', { cookie, at: one })).status).toBe(401);
  const guess = (at: string | undefined) =>
    call('/api/auth/login', { body: { username: 'nobody@example.com', password: 'wrong one' }, at });
  for (let n = 0; n < 10; n += 1) expect((await guess(n % 2 === 0 ? one : two)).status).toBe(401);
  expect((await guess(one)).status).toBe(429);
  expect((await guess(two)).status).toBe(429);
});

test('a rolling restart under load loses no alert and doubles none', { timeout: 120_000 }, async () => {
  const cookie = await signIn();
  const hook = (await (await call('/api/hooks', { cookie, body: {} })).json()) as { hookKey: string };
  const acknowledged = new Map<string, string>();
  const sending = new Set<Promise<void>>();
  let sent = 0;

  /** As TradingView does: an alert that meets a 5xx, or nobody, is sent again, three times at most. */
  async function sendAlert(price: string): Promise<void> {
    for (let tries = 0; tries < 4; tries += 1) {
      if (tries > 0) await sleep(1_000);
      const answer = await call(`/hooks/trading_view_signal?hkid=${hook.hookKey}`, {
        body: {
          symbol: `T${Number(price) % 7}USDT`,
          action: 'buy',
          price,
          timeframe: '15',
          processor: 'Tesla',
          time: price,
        },
      }).catch(() => null);
      if (answer?.status === 200) {
        acknowledged.set(price, ((await answer.json()) as { id: string }).id);
        return;
      }
      expect(answer?.status ?? 503).toBe(503);
    }
  }

  let isOver = false;
  const load = (async () => {
    for (; !isOver; sent += 1) {
      const one = sendAlert(String(1_000 + sent));
      sending.add(one);
      await sleep(150);
    }
  })();

  for (const name of NAMES) {
    await sleep(500);
    const instance = instances.get(name);
    const startedMs = performance.now();
    expect(await instance?.stop()).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    instances.delete(name);
    await sleep(300);
    await start(name);
  }
  await sleep(500);
  isOver = true;
  await load;
  await Promise.all(sending);

  expect(sent).toBeGreaterThan(15);
  expect(acknowledged.size).toBe(sent);
  const stored = await query<{ id: string }>('select id from signals');
  expect(new Set(stored.map(({ id }) => id))).toEqual(new Set(acknowledged.values()));
  expect(stored).toHaveLength(sent);
  await vi.waitFor(
    async () => {
      const rows = await query(`select signal_id from workflows where status in ('pending', 'processing')`);
      expect(rows).toEqual([]);
    },
    { timeout: 30_000, interval: 200 },
  );
  expect(await query('select signal_id from workflows group by 1 having count(*) > 1')).toEqual([]);
});
