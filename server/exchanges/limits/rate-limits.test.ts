import { expect, test } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import { accountOf, limitedInstances, orderOf, within } from '#test/venues/limited-instances.ts';
import type { Exchange } from '../exchange.ts';

/* What an exchange's rates allow in real time is in rate-limits.long.test.ts. */

const { start, pool } = limitedInstances();

test('entries of an instance leave in order', async () => {
  const { site, instances } = await start();
  const users = Array.from({ length: 40 }, (_, user) => user);
  const [first] = instances as [Exchange];
  const left: number[] = [];
  const announceOf = (user: number) => async () => left.push(user) > 0;
  await Promise.all(
    users.map((user) =>
      first.placeOrder(accountOf(user), orderOf(`o${user}`), {
        ...within(60_000),
        announce: announceOf(user),
      }),
    ),
  );
  expect(left).toEqual(users);
  expect(site.requests.filter(({ endpoint }) => endpoint === 'place-order')).toHaveLength(users.length);
});

test('a 429 holds the user’s endpoint in every instance for the requested time, and nobody else', async () => {
  const { site, instances } = await start();
  const [first, second] = instances as [Exchange, Exchange];
  site.refuse('key-1', 'place-order', { times: 1, retryAfterSeconds: 1 });
  expect(await first.placeOrder(accountOf(1), orderOf('a'), within(20_000))).toMatchObject({
    outcome: 'retry-later',
    retryAfterMs: 1_000,
  });
  const { rows } = await pool().query('select key from exchange_slots where hold_ms > 0');
  expect(rows).toEqual([{ key: 'Bitget user-1 mix/order/place-order' }]);
  await first.placeOrder(accountOf(2), orderOf('d'), within(20_000));
  await first.cancelOrder(accountOf(1), { token: 'BTC', clientOrderId: 'a' });
  for (const clientOrderId of ['b', 'c']) {
    expect(await second.placeOrder(accountOf(1), orderOf(clientOrderId), within(20_000))).toMatchObject({
      outcome: 'placed',
    });
  }
  const [refused, ...later] = site.requests.filter(
    ({ endpoint, key }) => key === 'key-1' && endpoint === 'place-order',
  );
  expect(later.map(({ body }) => body.clientOid)).toEqual(['b', 'c']);
  // A signature made before the wait would be rejected as too old.
  for (const { atMs, signatureAgeMs } of later) {
    expect(atMs - signatureAgeMs).toBeGreaterThan((refused?.atMs ?? 0) + 900);
  }
});

test('several refused accounts hold entries of all instances, but not closes, until one request passes', async () => {
  const { site, instances } = await start();
  const [first, second] = instances as [Exchange, Exchange];
  for (const user of [1, 2, 3]) {
    site.refuse(`key-${user}`, 'place-order', { times: 1, retryAfterSeconds: 5 });
    await first.placeOrder(accountOf(user), orderOf('a'), within(30_000));
  }
  // A request that cannot wait for the end of the hold is refused immediately.
  expect(await second.placeOrder(accountOf(4), orderOf('b'), within(500))).toMatchObject({
    outcome: 'retry-later',
    message: expect.stringMatching(
      /^Bitget: not sent: the exchange throttles all requests from this address/,
    ),
  });
  const entry = second.placeOrder(accountOf(5), orderOf('waits'), within(30_000));
  const protection = { token: 'BTC', side: 'long', quantity: '0.001', takeProfit: null } as const;
  await first.placeProtection(
    accountOf(6),
    { ...protection, stopLoss: '63000', clientOrderId: 'stop' },
    within(30_000),
  );
  expect(await entry).toMatchObject({ outcome: 'placed' });
  const sent = site.requests.slice(-2).map(({ endpoint }) => endpoint);
  expect(sent).toEqual(['place-tpsl-order', 'place-order']);
});

// Requirements: settings-of-the-program-15
testEveryCase('instances with named addresses are held apart, but share the limits of accounts', async () => {
  const { site, instances } = await start(['frankfurt-1', 'frankfurt-2']);
  const [first, second] = instances as [Exchange, Exchange];
  for (const user of [1, 2, 3]) {
    site.refuse(`key-${user}`, 'place-order', { times: 1, retryAfterSeconds: 5 });
    await first.placeOrder(accountOf(user), orderOf('a'), within(30_000));
  }
  const held = 'select key from exchange_slots where hold_ms > 0 order by key collate "C"';
  expect((await pool().query(held)).rows.map(({ key }) => key)).toEqual([
    'Bitget through address:frankfurt-1',
    ...[1, 2, 3].map((user) => `Bitget user-${user} mix/order/place-order`),
  ]);
  expect(await first.placeOrder(accountOf(4), orderOf('b'), within(500))).toMatchObject({
    outcome: 'retry-later',
    message: expect.stringContaining('the exchange throttles all requests from this address'),
  });
  expect(await second.placeOrder(accountOf(4), orderOf('c'), within(500))).toMatchObject({
    outcome: 'placed',
  });
  expect(await second.placeOrder(accountOf(1), orderOf('d'), within(500))).toMatchObject({
    outcome: 'retry-later',
    message: expect.stringContaining('the exchange throttles this account’s requests'),
  });
});

test('one price request serves all users of an instance for a second', async () => {
  const { site, instances } = await start();
  const [first] = instances as [Exchange];
  const users = Array.from({ length: 100 }, (_, user) => `user-${user}`);
  await Promise.all(users.map((viewerUserId) => first.fetchTicker('BTC', { viewerUserId })));
  expect(site.requests.filter(({ endpoint }) => endpoint === 'ticker')).toHaveLength(1);
});
