import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openPool } from '#server/platform/db/pool.ts';
import { createLog } from '#server/platform/log.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { type StrictExchange, startStrictExchange } from '#test/venues/strict-exchange.ts';
import { buy, testRegistry } from '#test/venues/test-registry.ts';
import type { Exchange, ExchangeAccount } from '../exchange.ts';

/* Complete registries on one database, against an exchange that counts requests. */

const INSTANCES = 3;
const PER_SECOND = (endpoint: string) =>
  endpoint === 'set-leverage' || endpoint === 'all-position' ? 5 : 10;

let shared: TestDatabase;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  shared = await createTestDatabase();
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  await shared.database.pool.query('delete from exchange_slots; delete from exchange_preparations');
});
afterAll(() => shared.close());

async function start(): Promise<{ site: StrictExchange; instances: Exchange[] }> {
  const site = await startStrictExchange({ perSecondOfKey: PER_SECOND, perTwoSecondsOfAddress: 200 });
  const log = createLog({ level: 'silent' });
  const { connection } = shared.database;
  const pools = Array.from({ length: INSTANCES }, () => openPool({ connection, log, maxConnections: 4 }));
  const registries = pools.map(({ pool }) =>
    testRegistry({
      exchangeMode: 'live',
      bitgetBaseUrl: site.url,
      exchangeTimeoutMs: 10_000,
      shared: { pool, log },
    }),
  );
  open.push(...registries, ...pools, site);
  const instances = registries.map((registry) => registry.get('Bitget'));
  await Promise.all(instances.map((exchange) => exchange.fetchContract('BTC')));
  return { site, instances };
}

const accountOf = (user: number): ExchangeAccount => ({
  userId: `user-${user}`,
  environment: 'live',
  credentials: { apiKey: `key-${user}`, apiSecret: 's', passphrase: 'p', accountMode: 'classic' },
});

const orderOf = (clientOrderId: string) => buy({ clientOrderId, quantity: '0.001' });

const within = (ms: number) => ({ notAfter: new Date(Date.now() + ms) });

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

test('entries of an instance leave in order', async () => {
  const { site, instances } = await start();
  const users = Array.from({ length: 40 }, (_, user) => user);
  const [first] = instances as [Exchange];
  await Promise.all(
    users.map((user) => first.placeOrder(accountOf(user), orderOf(`o${user}`), within(5_000))),
  );
  const placed = site.requests.filter(({ endpoint }) => endpoint === 'place-order');
  // Requests that leave together may overtake each other in transit.
  for (const [place, { key }] of placed.entries()) {
    expect(Math.abs(place - Number(key?.slice('key-'.length)))).toBeLessThanOrEqual(20);
  }
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

test('a 429 holds the user’s endpoint in every instance for the requested time, and nobody else', async () => {
  const { site, instances } = await start();
  const [first, second] = instances as [Exchange, Exchange];
  site.refuse('key-1', 'place-order', { times: 1, retryAfterSeconds: 1 });
  expect(await first.placeOrder(accountOf(1), orderOf('a'), within(5_000))).toMatchObject({
    outcome: 'retry-later',
    retryAfterMs: 1_000,
  });
  const startedMs = performance.now();
  const waits = [
    second.placeOrder(accountOf(1), orderOf('b'), within(5_000)),
    second.placeOrder(accountOf(1), orderOf('c'), within(5_000)),
  ];
  await first.placeOrder(accountOf(2), orderOf('d'), within(5_000));
  await first.cancelOrder(accountOf(1), { token: 'BTC', clientOrderId: 'a' });
  await Promise.all(waits);
  expect(performance.now() - startedMs).toBeGreaterThan(950);
  const order = site.requests.filter(({ endpoint, status }) => endpoint !== 'contracts' && status === 200);
  const names = order.map(({ endpoint, body }) => (endpoint === 'place-order' ? body.clientOid : endpoint));
  expect(names).toEqual(['d', 'cancel-order', 'b', 'c']);
  // A signature made before the wait would be rejected as too old.
  for (const { signatureAgeMs } of order) expect(signatureAgeMs).toBeLessThan(500);
});

test('several refused accounts hold entries of all instances, but not closes, until one request passes', async () => {
  const { site, instances } = await start();
  const [first, second] = instances as [Exchange, Exchange];
  for (const user of [1, 2, 3]) {
    site.refuse(`key-${user}`, 'place-order', { times: 1, retryAfterSeconds: 1 });
    await first.placeOrder(accountOf(user), orderOf('a'), within(5_000));
  }
  // A request that cannot wait for the end of the hold is refused immediately.
  expect(await second.placeOrder(accountOf(4), orderOf('b'), within(500))).toMatchObject({
    outcome: 'retry-later',
    message: expect.stringMatching(
      /^Bitget: not sent: the exchange throttles all requests from this address/,
    ),
  });
  const entry = second.placeOrder(accountOf(5), orderOf('waits'), within(5_000));
  const protection = { token: 'BTC', side: 'long', quantity: '0.001', takeProfit: null } as const;
  await first.placeProtection(
    accountOf(6),
    { ...protection, stopLoss: '63000', clientOrderId: 'stop' },
    within(5_000),
  );
  expect(await entry).toMatchObject({ outcome: 'placed' });
  const sent = site.requests.slice(-2).map(({ endpoint }) => endpoint);
  expect(sent).toEqual(['place-tpsl-order', 'place-order']);
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
      const { rows } = await shared.database.pool.query<{ key: string }>(
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

test('one price request serves all users of an instance for a second', async () => {
  const { site, instances } = await start();
  const [first] = instances as [Exchange];
  const users = Array.from({ length: 100 }, (_, user) => `user-${user}`);
  await Promise.all(users.map((viewerUserId) => first.fetchTicker('BTC', { viewerUserId })));
  expect(site.requests.filter(({ endpoint }) => endpoint === 'ticker')).toHaveLength(1);
});
