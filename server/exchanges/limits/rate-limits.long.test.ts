import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { accountOf, INSTANCES, limitedInstances, orderOf, within } from '#test/venues/limited-instances.ts';
import type { Exchange } from '../exchange.ts';

/* Rates of requests in real time. */

const { start, pool } = limitedInstances();

test('100 concurrent users on three instances exceed no limit, and stops do not wait', async () => {
  const { site, instances } = await start();
  const at = (user: number) => instances[user % INSTANCES] as Exchange;
  const users = Array.from({ length: 100 }, (_, user) => user);
  let isTrading = true;

  const trading = Promise.all(
    users.map(async (user) => {
      await at(user).prepareAccount(accountOf(user), { token: 'BTC', leverage: 10 });
      return at(user).placeOrder(accountOf(user), orderOf(`entry-${user}`), within(5_000));
    }),
  ).finally(() => {
    isTrading = false;
  });
  const overtaken: number[] = [];
  for (let stop = 0; isTrading; stop += 1) {
    const before = site.requests.length;
    const protection = { token: 'BTC', side: 'long', quantity: '0.001', takeProfit: null } as const;
    await at(stop).placeProtection(
      accountOf(stop),
      { ...protection, stopLoss: '63000', clientOrderId: `s${stop}` },
      within(5_000),
    );
    overtaken.push(site.requests.length - before - 1);
    await sleep(50);
  }

  expect((await trading).map(({ outcome }) => outcome)).toEqual(users.map(() => 'placed'));
  expect(site.requests.filter(({ status }) => status === 429)).toEqual([]);
  expect(overtaken.length).toBeGreaterThan(5);
  // Behind all entries a stop would wait for hundreds of requests; the median tolerates a single pause of the machine.
  expect(overtaken.toSorted((a, b) => a - b)[Math.floor(overtaken.length / 2)]).toBeLessThan(60);
});

test('one user’s requests to one endpoint stay within the limit across all instances', async () => {
  const { site, instances } = await start();
  const calls = Array.from({ length: 14 }, (_, call) =>
    (instances[call % INSTANCES] as Exchange).placeOrder(accountOf(1), orderOf(`c${call}`), within(5_000)),
  );
  const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
  expect(outcomes).toEqual(outcomes.map(() => 'placed'));
  const times = site.requests.filter(({ endpoint }) => endpoint === 'place-order').map(({ atMs }) => atMs);
  expect(site.requests.some(({ status }) => status === 429)).toBe(false);
  // The limit is also used: the requests are not just slow.
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeLessThan(2_500);
});

test('a request that would have to wait beyond its `notAfter` is not sent and certainly not placed', async () => {
  const { site, instances } = await start();
  const calls = Array.from({ length: 12 }, (_, call) =>
    (instances[0] as Exchange).placeOrder(accountOf(1), orderOf(`c${call}`), within(600)),
  );
  const placements = await Promise.all(calls);
  const late = placements.filter(({ outcome }) => outcome !== 'placed');
  expect(late).toHaveLength(3);
  for (const placement of late) {
    expect(placement).toMatchObject({
      outcome: 'retry-later',
      message: expect.stringMatching(/^Bitget: not sent/),
    });
  }
  const arrived = site.requests.filter(({ endpoint }) => endpoint === 'place-order');
  expect(arrived).toHaveLength(placements.length - late.length);
});

test('one account that is refused at every endpoint, however often, holds nobody else', async () => {
  const { site, instances } = await start();
  const endpoints = ['place-order', 'cancel-order', 'detail', 'all-position', 'account', 'orders-pending'];
  for (const endpoint of endpoints) {
    site.refuse('key-1', endpoint, { times: 1_000, retryAfterSeconds: 1 });
  }
  const throttled = accountOf(1);
  const asked = instances.flatMap((exchange) =>
    Array.from({ length: 10 }, (_, call) => [
      exchange.placeOrder(throttled, orderOf(`t${call}`), within(2_000)),
      exchange.cancelOrder(throttled, { token: 'BTC', clientOrderId: 'x' }),
      exchange.findOrder(throttled, { token: 'BTC', clientOrderId: 'x' }).catch(() => null),
      exchange.fetchPosition(throttled, 'BTC').catch(() => null),
      exchange.fetchOpenOrders(throttled, 'BTC').catch(() => null),
    ]).flat(),
  );
  const held = new Set<string>();
  await vi.waitFor(
    async () => {
      const { rows } = await pool().query<{ key: string }>(
        'select key from exchange_slots where hold_ms > 0',
      );
      for (const { key } of rows) held.add(key);
      expect(held.size).toBeGreaterThan(3);
    },
    { timeout: 30_000, interval: 50 },
  );
  for (const key of held) expect(key).toMatch(/^Bitget user-1 /);
  const others = await Promise.all(
    Array.from({ length: 12 }, (_, user) =>
      (instances[user % INSTANCES] as Exchange).placeOrder(
        accountOf(user + 2),
        orderOf(`o${user}`),
        within(3_000),
      ),
    ),
  );
  expect(others.map(({ outcome }) => outcome)).toEqual(others.map(() => 'placed'));
  await Promise.all(asked);
  const own = site.requests.filter(({ key }) => key === 'key-1');
  expect(own.length).toBeGreaterThan(5);
  // Requests that wait for the end of a hold are refused here; the exchange sees the first ones and a few probes.
  expect(own.length).toBeLessThan(100);
  expect(site.requests.filter(({ key, status }) => key !== 'key-1' && status === 429)).toEqual([]);
});
