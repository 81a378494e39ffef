import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import {
  call,
  database,
  hookKey,
  instances,
  NAMES,
  query,
  signIn,
  startInstance,
  startInstances,
  stopInstances,
} from '#test/world/processes.ts';

beforeAll(startInstances);
afterAll(stopInstances);

// First, while the database holds no other signals.
test('a rolling restart under load loses no alert and doubles none', { timeout: 120_000 }, async () => {
  const cookie = await signIn();
  const key = await hookKey(cookie);
  const acknowledged = new Map<string, string>();
  const sending = new Set<Promise<void>>();
  let sent = 0;

  /** As TradingView does: an alert that meets a 5xx, or nobody, is sent again, three times at most. */
  async function sendAlert(price: string): Promise<void> {
    const time = new Date().toISOString();
    for (let tries = 0; tries < 4; tries += 1) {
      if (tries > 0) await sleep(1_000);
      const answer = await call(`/hooks/trading_view_signal?hkid=${key}`, {
        body: {
          symbol: `T${Number(price) % 7}USDT`,
          action: 'buy',
          price,
          timeframe: '15',
          processor: 'Tesla',
          time,
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
    expect(await instance?.stop()).toBe(0);
    instances.delete(name);
    await sleep(300);
    await startInstance(name);
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

describe('an instance in the middle of a workflow with several users', () => {
  const TRADERS = 4;
  /** In the order of trading. */
  const traders: string[] = [];
  const WITHIN_MS = 30_000;
  /** Instead of waiting this long, the test makes the rows of the stopped instance that much older. */
  const AGED_MS = 18_000;

  /** Holds every calculation back until its connection ends, at the latest with the test. */
  async function closeGate(): Promise<pg.Client> {
    const gate = new pg.Client({ ...inject('testServer'), database });
    gate.on('error', () => {});
    onTestFinished(() => gate.end());
    await gate.connect();
    await gate.query('begin; lock table position_generator_logs in access exclusive mode');
    return gate;
  }

  /** Leases the first user to nobody: the first wave then has several users. */
  const leaseFirst = () =>
    query(
      `insert into leases (key, holder, lease_until) values ($1, 'nobody', now() + interval '1 hour')
       on conflict (key) do update set holder = excluded.holder, lease_until = excluded.lease_until`,
      [`user:${traders[0]}`],
    );

  /** A workflow in progress, and the instances that hold its users; no user is traded before `release`. */
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
    const gate = await closeGate();
    await leaseFirst();
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
      expect(rows).toHaveLength(TRADERS - 1);
      // Between two transactions: an open one ends after 15 s, well within a lease. The calls that the sweep repeats
      // every ten seconds wait as well.
      const waiting = await query(
        `select pid from pg_stat_activity where datname = current_database()
           and wait_event_type = 'Lock' and query like '%position_generator_logs%'`,
      );
      expect(waiting.length).toBeGreaterThan(0);
      return rows.map(({ key, holder }) => ({
        userId: key.replace('user:', ''),
        name: holder.split(' ')[0] ?? '',
      }));
    }, 20_000);
    const release = async () => {
      await gate.end();
      await query(`delete from leases where holder = 'nobody'`);
    };
    return { workflowId, held, release };
  }

  beforeAll(async () => {
    const cookie = await signIn();
    for (let number = 1; number <= TRADERS; number += 1) {
      const body = { username: `trader${number}@example.com`, password: 'a password of a user' };
      const answer = await call('/api/admin/create-client', { cookie, body });
      const { user } = (await answer.json()) as { user: { id: string } };
      traders.push(user.id);
      const put = (path: string, values: object) => call(path, { cookie, method: 'PUT', body: values });
      const settings = { positionSizingMethod: 'Portfolio Allocation' };
      expect((await put(`/api/admin/user-settings/${user.id}`, settings)).status).toBe(200);
      expect((await put(`/api/admin/user/${user.id}/active-trading`, { activeTrading: true })).status).toBe(
        200,
      );
    }
  });

  // The killed instance comes last, because it is not started again.
  test.each([
    ['frozen', 'SIGSTOP', 'TOA'],
    ['killed', 'SIGKILL', 'TOB'],
  ] as const)(
    'that is %s leaves the workflow to the other, which continues within 30 s and places every order once',
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
         where state = 'active' and data->>'workflowId' = $1`,
        [workflowId],
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
      const orders = await query<{ user_id: string }>(
        'select user_id from paper_orders where token = $1 and not reduce_only',
        [token],
      );
      expect(orders.map(({ user_id }) => user_id).toSorted()).toEqual(traders.toSorted());
      const trades = await query('select user_id from trades where workflow_id = $1', [workflowId]);
      expect(trades).toHaveLength(TRADERS);
    },
  );
});
