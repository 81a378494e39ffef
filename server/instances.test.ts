import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { startServerProcess, type TestServerProcess } from '#test/app/test-server-process.ts';

// Real programs on one PostgreSQL behind a load balancer, as compose.yaml has them.

const ADMIN = { username: 'admin@example.com', password: 'correct horse battery' };
const NAMES = ['one', 'two'] as const;

let database: string;
let server: pg.Client;
let balancer: Server;
let address: string;
/** Those that the balancer knows. */
const instances = new Map<string, TestServerProcess>();
const started = new Set<TestServerProcess>();

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
  for (const { child } of started) child.kill('SIGCONT');
  await Promise.all([...started].map((instance) => instance.stop()));
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
  started.add(instance);
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
  options: { cookie?: string; method?: string; body?: unknown; at?: string | undefined } = {},
): Promise<Response> {
  const { cookie, body, method = body === undefined ? 'GET' : 'POST', at = address } = options;
  return await fetch(`${at}${path}`, {
    method,
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

let webhook: Promise<string> | undefined;

/** Of the administrator, who may have one alone. */
function hookKey(cookie: string): Promise<string> {
  webhook ??= call('/api/hooks', { cookie, body: {} })
    .then((answer) => answer.json() as Promise<{ hookKey: string }>)
    .then(({ hookKey }) => hookKey);
  return webhook;
}

async function query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ ...inject('testServer'), database });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
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
  const key = await hookKey(cookie);
  const acknowledged = new Map<string, string>();
  const sending = new Set<Promise<void>>();
  let sent = 0;

  /** As TradingView does: an alert that meets a 5xx, or nobody, is sent again, three times at most. */
  async function sendAlert(price: string): Promise<void> {
    for (let tries = 0; tries < 4; tries += 1) {
      if (tries > 0) await sleep(1_000);
      const answer = await call(`/hooks/trading_view_signal?hkid=${key}`, {
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

describe('an instance in the midst of a workflow with several users', () => {
  const TRADERS = 4;
  const WITHIN_MS = 30_000;
  /** So much of the waiting is not waited for: the rows of who is gone are made that much older instead. */
  const AGED_MS = 18_000;

  /** A workflow under way, and who holds which of its users; nobody gets any further before `release`. */
  async function holdWorkflow({ token, cookie }: { token: string; cookie: string }) {
    const key = await hookKey(cookie);
    const deliver = (route: string, body: object) =>
      call(`/hooks/${route}?hkid=${key}`, { body: { symbol: `${token}USDT`, ...body } });
    await deliver('trading_view_candler', {
      Timeframe: '15',
      Symbol: `${token}USDT`,
      Currency: 'USDT',
      DateTime: new Date().toISOString().replaceAll(/[-:T]/g, '').slice(0, 12),
      ...{ High: '100', Low: '100', Open: '100', Close: '100', Volume: '1' },
    });
    const signal = { action: 'buy', price: '100', timeframe: '15', processor: 'Tesla' };
    const { id } = (await (await deliver('trading_view_signal', signal)).json()) as { id: string };
    const gate = new pg.Client({ ...inject('testServer'), database });
    gate.on('error', () => {});
    await gate.connect();
    await gate.query('begin; lock table position_generator_logs in access exclusive mode');
    let workflowId = '';
    await vi.waitFor(async () => {
      const answer = await call('/api/trigger-automation', { cookie, body: { signalId: id } });
      expect(answer.status).toBe(200);
      ({ workflowId } = (await answer.json()) as { workflowId: string });
    }, 10_000);
    const held = await vi.waitFor(async () => {
      const rows = await query<{ key: string; holder: string }>(
        `select key, holder from leases where lease_until > now() and holder like '% ${workflowId}'`,
      );
      expect(rows).toHaveLength(TRADERS);
      // Between two transactions: one that is open ends by itself after 15 s, well within a lease.
      const waiting = await query(
        `select pid from pg_stat_activity where datname = current_database()
           and wait_event_type = 'Lock' and query like '%position_generator_logs%'`,
      );
      expect(waiting).toHaveLength(TRADERS);
      return rows.map(({ key, holder }) => ({
        userId: key.replace('user:', ''),
        name: holder.split(' ')[0] ?? '',
      }));
    }, 10_000);
    const release = async () => {
      await gate.query('rollback');
      await gate.end();
    };
    return { workflowId, held, release };
  }

  beforeAll(async () => {
    const cookie = await signIn();
    for (let number = 1; number <= TRADERS; number += 1) {
      const body = { username: `trader${number}@example.com`, password: 'a password of a user' };
      const answer = await call('/api/admin/create-client', { cookie, body });
      const { user } = (await answer.json()) as { user: { id: string } };
      const put = (path: string, values: object) => call(path, { cookie, method: 'PUT', body: values });
      const settings = { positionSizingMethod: 'Portfolio Allocation' };
      expect((await put(`/api/admin/user-settings/${user.id}`, settings)).status).toBe(200);
      expect((await put(`/api/admin/user/${user.id}/active-trading`, { activeTrading: true })).status).toBe(
        200,
      );
    }
  });

  // The killed one comes last: it is not started again.
  test.each([
    ['frozen', 'SIGSTOP', 'TOA'],
    ['killed', 'SIGKILL', 'TOB'],
  ] as const)(
    'that is %s leaves it to the other, which goes on within 30 s and places every order once',
    async (_how, signal, token) => {
      const cookie = await signIn();
      const { workflowId, held, release } = await holdWorkflow({ token, cookie });
      const victim = held[0]?.name ?? '';
      const users = held.flatMap(({ name, userId }) => (name === victim ? [userId] : []));
      const instance = instances.get(victim);
      instances.delete(victim);
      instance?.child.kill(signal);
      const struckAt = Date.now();
      await release();
      const aged = `make_interval(secs => ${AGED_MS / 1_000})`;
      await query(`update leases set lease_until = lease_until - ${aged} where starts_with(holder, $1)`, [
        `${victim} `,
      ]);
      await query(
        `update jobs.job set heartbeat_on = heartbeat_on - ${aged}
         where state = 'active' and data->>'workflowId' = $1 and data->>'userId' = any($2)`,
        [workflowId, users],
      );
      const workflow = await vi.waitFor(async () => {
        const [row] = await query(`select status, successful_users_count as n from workflows where id = $1`, [
          workflowId,
        ]);
        expect(row?.status).toBe('completed');
        return row;
      }, WITHIN_MS);
      expect(workflow?.n).toBe(TRADERS);
      const acts = await query<{ user_id: string; created_at: Date }>(
        'select user_id, created_at from position_generator_logs where workflow_id = $1 and user_id = any($2)',
        [workflowId, users],
      );
      expect(acts).toHaveLength(users.length);
      const firstMs = Math.min(...acts.map(({ created_at }) => created_at.getTime())) - struckAt;
      expect(firstMs + AGED_MS).toBeLessThanOrEqual(WITHIN_MS);

      if (signal === 'SIGSTOP') {
        instance?.child.kill('SIGCONT');
        await vi.waitFor(async () => expect((await call('/readyz', { at: instance?.url })).status).toBe(200));
        await sleep(500);
        if (instance) instances.set(victim, instance);
      } else {
        await instance?.stop();
      }
      const orders = await query(
        `select user_id from paper_orders where token = $1 and not reduce_only order by user_id`,
        [token],
      );
      expect(orders).toEqual(
        held
          .map(({ userId }) => userId)
          .sort()
          .map((user_id) => ({ user_id })),
      );
      const trades = await query('select user_id from trades where workflow_id = $1', [workflowId]);
      expect(trades).toHaveLength(TRADERS);
    },
  );
});
