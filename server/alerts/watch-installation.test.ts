import { hostname } from 'node:os';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOverview } from '#server/console/overview/read-overview.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { type FakeClock, fakeClock, testClock } from '#test/app/fake-clock.ts';
import { createRowRefusals } from '#test/app/refused-rows.ts';
import { testClient } from '#test/app/test-client.ts';
import { startReceiver } from '#test/app/test-receivers.ts';
import { createSender, SIGNAL } from '#test/app/test-sender.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';
import { beatHeart } from './heartbeat.ts';
import { startAlerts } from './start-alerts.ts';
import { createExchangeWatch } from './watch-exchanges.ts';
import { watchBackups, watchDisk, watchInstances, watchKeys, watchRefusals } from './watch-installation.ts';

const HOUR_MS = 3_600_000;
let clock: FakeClock;
let board: World;
let user: TestUser;

beforeAll(async () => {
  clock = fakeClock(new Date());
  board = await startWorld({ clock, config: { displayTimezone: 'UTC' } });
  user = await board.createUser();
});
beforeEach(async () => {
  clock.set(new Date());
  await board.query('delete from notice_events');
  await board.query('delete from notice_states');
});
afterAll(() => board.close());

/** The events since the last look. */
async function noted() {
  const rows = await board.query('delete from notice_events returning id, code, user_id as "userId", data');
  return rows.toSorted((one, other) => Number(one.id) - Number(other.id));
}
const codes = async () => (await noted()).map(({ code }) => code);

test('events that cannot be made into notices keep nothing else of the same pass from its turn', async () => {
  const passes = testClock();
  let tells = 0;
  const db = Object.assign(Object.create(board.deps.db), {
    execute() {
      throw new Error('the events cannot be read');
    },
  });
  const exchangeWatch = {
    called() {},
    async tell() {
      tells += 1;
    },
  };
  const alerts = startAlerts(
    { ...board.deps, clock: passes, db },
    { exchangeWatch, readOverview: createOverview(board.deps) },
  );
  try {
    await passes.advance(1_000);
    await expect.poll(() => tells).toBe(1);
  } finally {
    await alerts.stop();
  }
});

// Requirements: additions-alerts-7
describe('what is reported once', () => {
  test('a backup that was not written for a day, again each day', async () => {
    await watchBackups(board.deps);
    expect(await codes()).toEqual([]);
    await board.query(
      `insert into audit_log (id, at, actor_kind, actor_name, action, row_mac)
       values ($1, $2, 'command', 'npm run backup', 'backup written', '')`,
      [timeOrderedId(), clock.now()],
    );
    clock.advance(24 * HOUR_MS - 1);
    await watchBackups(board.deps);
    expect(await codes()).toEqual([]);
    clock.advance(1);
    await watchBackups(board.deps);
    await watchBackups(board.deps);
    expect(await noted()).toMatchObject([{ code: 'backup_missing', data: { duration: '24 h' } }]);
    clock.advance(24 * HOUR_MS);
    await watchBackups(board.deps);
    expect(await codes()).toEqual(['backup_missing']);
  });

  test('a disk that is almost full', async () => {
    const disk = (bavail: number) => watchDisk({ ...board.deps, freeSpace: async () => bavail / 1_000 });
    await disk(100);
    expect(await codes()).toEqual([]);
    await disk(99);
    await disk(98);
    expect(await noted()).toMatchObject([{ code: 'disk_low', data: { percent: '9.9' } }]);
    await disk(500);
    await disk(99);
    expect(await codes()).toEqual(['disk_low']);
    expect((await board.query('select key from notice_states')).map(({ key }) => key)).toEqual([
      `disk:${hostname()}`,
    ]);
  });

  test('deliveries that a webhook refuses: with the first, then once an hour', async () => {
    const sender = await createSender({ app: board.app, client: user.client });
    const refuse = () => sender.signal({ ...SIGNAL, price: 'no number' });
    await refuse();
    await refuse();
    await watchRefusals(board.deps);
    const [event] = await noted();
    expect(event).toMatchObject({ code: 'webhook_refused', userId: user.user.id, data: { count: 2 } });
    expect(event?.data.reasons).toMatch(/^2 × /);
    await refuse();
    await watchRefusals(board.deps);
    expect(await codes()).toEqual([]);
    clock.advance(HOUR_MS);
    await watchRefusals(board.deps);
    expect(await codes(), 'nothing more was refused').toEqual([]);
    await refuse();
    await watchRefusals(board.deps);
    expect(await codes()).toEqual(['webhook_refused']);
  });

  test('an API key that ends in 14, 3 and 1 days', async () => {
    const ends = new Date(clock.now().getTime() + 20 * 24 * HOUR_MS);
    await user.client.put('/api/user-settings/exchange-credentials', {
      exchangePlatform: 'Bybit',
      apiKey: 'the-api-key',
      apiSecret: 'the-secret',
    });
    await board.query('update exchange_credentials set key_expires_at = $1', [ends]);
    const told: unknown[] = [];
    for (let day = 0; day < 21; day += 1) {
      await watchKeys(board.deps);
      await watchKeys(board.deps);
      told.push(...(await noted()).map(({ data }) => data.days));
      clock.advance(24 * HOUR_MS);
    }
    expect(told).toEqual(['14 days', '3 days', '1 day']);
  });

  test('an instance that stopped reporting itself', async () => {
    const report = (ageSeconds: number) =>
      board.query(
        `insert into instances (instance_id, key_check, seals_under_next, heartbeat_at)
         values ('gone', '', false, now() - make_interval(secs => $1))
         on conflict (instance_id) do update set heartbeat_at = excluded.heartbeat_at`,
        [ageSeconds],
      );
    await report(1);
    await watchInstances(board.deps);
    expect(await codes()).toEqual([]);
    await report(61);
    await watchInstances(board.deps);
    await watchInstances(board.deps);
    expect(await noted()).toMatchObject([{ code: 'instance_taken_over', data: { instance: 'gone' } }]);
    await report(1);
    await watchInstances(board.deps);
    await report(61);
    await watchInstances(board.deps);
    expect(await codes()).toEqual(['instance_taken_over']);
    await board.query("delete from instances where instance_id = 'gone'");
  });

  test('an exchange that does not answer for half a minute, and its return', async () => {
    const watch = createExchangeWatch(board.deps);
    const call = async (result: 'no-answer' | 'refused' | 'success', times = 1) => {
      for (let count = 0; count < times; count += 1) watch.called({ platform: 'Bitget', result });
      await watch.tell();
    };
    await call('no-answer', 5);
    expect(await codes()).toEqual([]);
    await call('success');
    await call('no-answer', 2);
    clock.advance(30_001);
    await call('no-answer');
    await call('no-answer');
    expect(await noted()).toMatchObject([{ code: 'exchange_unreachable', data: { exchange: 'Bitget' } }]);
    // Another instance says the same, and neither tells it twice.
    const second = createExchangeWatch(board.deps);
    for (let count = 0; count < 3; count += 1) second.called({ platform: 'Bitget', result: 'unreachable' });
    clock.advance(30_001);
    await second.tell();
    expect(await codes()).toEqual([]);
    await call('refused');
    await call('success');
    expect(await codes()).toEqual(['exchange_recovered']);
  });
});

describe('a notice that cannot be written keeps back no other:', () => {
  let rows: Awaited<ReturnType<typeof createRowRefusals>>;
  beforeAll(async () => {
    rows = await createRowRefusals(board.database.pool, 'notice_states');
  });
  afterEach(() => rows.allow());

  test('an instance', async () => {
    for (const id of ['gone-1', 'gone-2', 'gone-3']) {
      await board.query(
        `insert into instances (instance_id, key_check, seals_under_next, heartbeat_at)
         values ($1, '', false, now() - interval '61 seconds')`,
        [id],
      );
    }
    await rows.refuse('gone-1');
    await watchInstances(board.deps);
    expect((await noted()).map(({ data }) => data.instance)).toEqual(['gone-2', 'gone-3']);
    await rows.allow();
    await watchInstances(board.deps);
    expect((await noted()).map(({ data }) => data.instance)).toEqual(['gone-1']);
    await board.query("delete from instances where instance_id like 'gone-%'");
  });

  test('a webhook', async () => {
    const owners = [await board.createUser(), await board.createUser()];
    for (const [index, { client }] of owners.entries()) {
      const sender = await createSender({ app: board.app, client });
      // The one with more refusals comes first.
      for (let count = index; count < 2; count += 1) await sender.signal({ ...SIGNAL, price: 'no number' });
      if (index === 0) await rows.refuse(sender.hook.id);
    }
    await watchRefusals(board.deps);
    expect((await noted()).map(({ userId }) => userId)).toContain(owners[1]?.user.id);
  });

  test('a key', async () => {
    const owners = [await board.createUser(), await board.createUser()];
    const ends = new Date(clock.now().getTime() + 2 * 24 * HOUR_MS);
    for (const { client } of owners) {
      await client.put('/api/user-settings/exchange-credentials', {
        exchangePlatform: 'Bybit',
        apiKey: 'the-api-key',
        apiSecret: 'the-secret',
      });
    }
    await board.query('update exchange_credentials set key_expires_at = $1', [ends]);
    const all = await board.query('select user_id as "userId" from exchange_credentials');
    await rows.refuse(all[0]?.userId);
    await watchKeys(board.deps);
    expect((await noted()).map(({ userId }) => userId).sort()).toEqual(
      all
        .slice(1)
        .map(({ userId }) => userId)
        .sort(),
    );
  });

  test('an exchange', async () => {
    const watch = createExchangeWatch(board.deps);
    const fail = () => {
      for (const platform of ['Bitget', 'Bybit']) watch.called({ platform, result: 'no-answer' });
    };
    for (let count = 0; count < 3; count += 1) fail();
    clock.advance(30_001);
    await rows.refuse('exchange:Bitget');
    await watch.tell();
    expect((await noted()).map(({ data }) => data.exchange)).toEqual(['Bybit']);
    await rows.allow();
    await watch.tell();
    expect((await noted()).map(({ data }) => data.exchange)).toEqual(['Bitget']);
  });
});

// Requirements: additions-alerts-7
test('a sign-in from a new address is reported, the first sign-in is not', async () => {
  const newcomer = await board.createUser();
  expect(await codes()).toEqual([]);
  const from = (address: string) => ({ ...testClient(board.app), address });
  const login = (address: string) =>
    board.app.inject({
      method: 'POST',
      url: '/api/auth/login',
      remoteAddress: from(address).address,
      payload: { username: newcomer.username, password: newcomer.password },
    });
  expect((await login('203.0.113.9')).statusCode).toBe(200);
  expect(await noted()).toMatchObject([
    { code: 'sign_in_new_address', userId: newcomer.user.id, data: { address: '203.0.113.9' } },
  ]);
  await login('203.0.113.9');
  expect(await codes()).toEqual([]);
});

// Requirements: additions-alerts-17
test('the heart beats while everything is well', async () => {
  const receiver = await startReceiver();
  const deps = { ...board.deps, config: { ...board.config, heartbeatUrl: `${receiver.url}/beat` } };
  const checks = { database: true, positionMaker: true, disk: true };
  try {
    await beatHeart({ ...deps, readiness: async () => ({ ready: true, checks }) });
    expect(receiver.received).toMatchObject([{ method: 'GET', path: '/beat' }]);
    await beatHeart({ ...deps, readiness: async () => ({ ready: false, checks }) });
    await beatHeart({ ...board.deps, readiness: async () => ({ ready: true, checks }) });
    expect(receiver.received).toHaveLength(1);
  } finally {
    await receiver.close();
  }
});
