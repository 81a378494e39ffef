import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  ADMIN,
  call,
  hookKey,
  instances,
  NAMES,
  query,
  signIn,
  startInstance,
  startInstances,
  stopInstances,
} from '#test/app/instances.ts';

beforeAll(startInstances);
afterAll(stopInstances);

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
