import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { NOTICES, type NoticeCode } from '#contract/notices.ts';
import { createOverview } from '#server/console/overview/read-overview.ts';
import { openPool } from '#server/platform/db/pool.ts';
import { createLog } from '#server/platform/log.ts';
import { testClock } from '#test/app/fake-clock.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { startReceiver, type TestReceiver } from '#test/app/test-receivers.ts';
import { createSender, SIGNAL } from '#test/app/test-sender.ts';
import { startDatabaseProxy } from '#test/faults/database-proxy.ts';
import { forgetCredentialCalls } from '#test/world/keys.ts';
import { type ExchangeWorld, startWorld, type TestUser } from '#test/world.ts';
import type { Message } from './send-message.ts';
import { startAlerts } from './start-alerts.ts';
import { createExchangeWatch } from './watch-exchanges.ts';

/*
 * The whole program with its own timers, on a clock that is moved by hand: what happens to the installation arrives at a
 * receiver of an administrator, and what concerns a user at the user's own.
 */

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const clock = testClock(new Date());
let keys: ExchangeWorld;
let receiver: TestReceiver;
let own: TestReceiver;
let user: TestUser;
let freeBlocks = 500;

beforeAll(async () => {
  keys = await startWorld({
    exchange: 'demo',
    clock,
    engine: true,
    background: ['alerts'],
    readDisk: async () => ({ bavail: freeBlocks, blocks: 1_000 }),
    config: { notifyPrivateAddresses: 'allowed', displayTimezone: 'UTC' },
  });
  [receiver, own] = [await startReceiver(), await startReceiver()];
  user = await keys.createTrader();
  for (const [client, { url }] of [
    [keys.admin, receiver],
    [user.client, own],
  ] as const) {
    const body = { kind: 'webhook', name: 'Ops', config: { url } };
    const answer = await client.post('/api/notification-channels', body);
    expect(answer.statusCode, answer.body).toBe(201);
  }
});
afterAll(async () => {
  await keys.close();
  await receiver.close();
  await own.close();
});
beforeEach(() => {
  receiver.received.length = 0;
  own.received.length = 0;
});

/** Moves the clock in steps until the notice has arrived, also at the user whom it concerns. */
async function expectNotice(
  code: NoticeCode,
  { text, link, isOwn = false }: { text: RegExp; link: string; isOwn?: boolean },
) {
  const at = ({ received }: TestReceiver) =>
    received.map(({ body }) => JSON.parse(body) as Message).filter((message) => message.code === code);
  await expect
    .poll(
      async () => {
        await clock.advance(1_000);
        return at(receiver).length > 0 && (!isOwn || at(own).length > 0);
      },
      { timeout: 20_000, interval: 10, message: code },
    )
    .toBe(true);
  for (const [where, wanted] of [
    [receiver, link],
    [own, '/'],
  ] as const) {
    if (where === own && !isOwn) {
      expect(at(own)).toEqual([]);
      continue;
    }
    const [message] = at(where);
    expect(message?.text).toMatch(text);
    expect(message?.severity).toBe(NOTICES[code].severity);
    expect(message?.link).toBe(wanted);
    if (isOwn) expect(message?.subject).toMatchObject({ userId: user.user.id, username: user.username });
  }
}

test('a start, and an instance that is gone without stopping', async () => {
  // Its clock stands, so that it does not report itself again.
  const instance = await keys.startInstance({
    config: { instanceId: 'second' },
    clock: testClock(clock.now()),
  });
  await expectNotice('instance_started', {
    text: /^Signal Board \S+ started \(demo mode\)$/,
    link: '/position-maker',
  });
  await keys.query(
    "update instances set heartbeat_at = now() - interval '61 seconds' where instance_id = 'second'",
  );
  await expectNotice('instance_taken_over', {
    text: /^The instance second has gone without stopping \(last seen [\d: -]+\)\. Its work was taken over$/,
    link: '/position-maker',
  });
  await instance.stop();
});

test('a sign-in from a new address', async () => {
  const { username, password } = user;
  const answer = await keys.app.inject({
    method: 'POST',
    url: '/api/auth/login',
    remoteAddress: '203.0.113.9',
    payload: { username, password },
  });
  expect(answer.statusCode, answer.body).toBe(200);
  await expectNotice('sign_in_new_address', {
    text: new RegExp(`^${username} signed in from a new address: 203\\.0\\.113\\.9$`),
    link: '/audit',
    isOwn: true,
  });
});

test('a stop that is made and lifted by a person', async () => {
  const scope = { kind: 'user', value: user.user.id };
  const made = await during(keys.admin.post('/api/trading-stops', { scope, reason: 'holiday' }));
  expect(made.statusCode, made.body).toBe(201);
  const about = { link: '/', isOwn: true };
  await expectNotice('stop_set', {
    text: new RegExp(`^New entries are stopped by admin@example\\.com: ${user.username}$`),
    ...about,
  });
  const { id } = made.json<{ id: string }>();
  expect((await keys.admin.delete(`/api/trading-stops/${id}`)).statusCode).toBe(204);
  await expectNotice('stop_lifted', {
    text: new RegExp(`^New entries are allowed again by admin@example\\.com: ${user.username}$`),
    ...about,
  });
});

test('deliveries that are refused, and a feed that is late, falls silent and comes again', async () => {
  const sender = await createSender({ app: keys.app, client: user.client });
  await sender.signal({ ...SIGNAL, price: 'no number' });
  await expectNotice('webhook_refused', {
    text: new RegExp(`^The webhook of ${user.username} refuses deliveries, 1 since [\\d: -]+: .*price`),
    link: '/configuration',
    isOwn: true,
  });
  const candle = async () => {
    const DateTime = clock.now().toISOString().slice(0, 16).replaceAll(/\D/g, '');
    const answer = await sender.candle({ Symbol: 'FEEDUSDT', Timeframe: '15', Close: '100', DateTime });
    expect(answer.statusCode, answer.body).toBe(200);
    // The ids of rows are of the machine's time: the sweep looks back again.
    await keys.query('delete from feed_sweeps');
  };
  for (const waitMs of [0, 15 * MINUTE_MS, 15 * MINUTE_MS]) {
    await clock.set(new Date(clock.now().getTime() + waitMs));
    await candle();
  }
  await expect
    .poll(async () => {
      await clock.advance(20_000);
      return (await keys.query('select candles from feeds')).map(({ candles }) => candles);
    })
    .toEqual([3]);
  const about = { link: '/feeds', isOwn: true };
  await clock.set(new Date(clock.now().getTime() + 17 * MINUTE_MS));
  await clock.advance(20_000);
  await expectNotice('feed_late', { text: /^Candles are late from FEED 15m$/, ...about });
  await clock.set(new Date(clock.now().getTime() + 30 * MINUTE_MS));
  await clock.advance(20_000);
  await expectNotice('feed_silent', { text: /^No candles from FEED 15m$/, ...about });
  await candle();
  await clock.advance(20_000);
  await expectNotice('feed_recovered', { text: /^Candles come again from FEED 15m$/, ...about });
});

testEveryCase('a disk that is almost full', async () => {
  freeBlocks = 99;
  await expectNotice('disk_low', { text: /^Disk almost full: 9\.9 % free in \S+$/, link: '/position-maker' });
  freeBlocks = 500;
});

test('an exchange that does not answer, its return, and a key that it refuses', async () => {
  const key = keys.newKey();
  expect((await during(keys.enter(user, key))).statusCode).toBe(200);
  keys.site.setFaults([{ kind: 'badGatewayBefore', on: { times: Number.POSITIVE_INFINITY } }]);
  const call = async () => {
    await forgetCredentialCalls(keys.database.pool);
    return await during(keys.testKey(user));
  };
  for (const waitMs of [0, 15_000, 15_001]) {
    await clock.advance(waitMs);
    await call();
  }
  const link = '/position-maker';
  await expectNotice('exchange_unreachable', { text: /^Bitget does not answer$/, link });
  keys.site.setFaults([]);
  await call();
  await expectNotice('exchange_recovered', { text: /^Bitget answers again$/, link });
  keys.site.replaceKey(key.accountId);
  expect(await call()).toMatchObject({ success: false });
  await expectNotice('key_refused', {
    text: new RegExp(`^API key of ${user.username} refused: Bitget refused it: `),
    link: '/create-client',
    isOwn: true,
  });
});

testEveryCase('a database that was away', async () => {
  const { connection } = keys.database;
  if (!('host' in connection)) throw new Error('the test server has no host');
  const network = await startDatabaseProxy(connection);
  const lines: string[] = [];
  const log = createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } });
  const pool = openPool({
    connection: { ...connection, host: '127.0.0.1', port: network.port },
    log,
    limits: { answerMs: 300, idleInTransactionMs: 5_000 },
  });
  const deps = { ...keys.deps, db: pool.db, log, clock };
  const alerts = startAlerts(deps, {
    exchangeWatch: createExchangeWatch(deps),
    readOverview: createOverview(deps),
  });
  network.setMode({ kind: 'black-hole' });
  const isNoticed = async () => {
    await clock.advance(1_000);
    return lines.some((line) => line.includes('notices could not be made'));
  };
  await expect.poll(isNoticed, { timeout: 20_000 }).toBe(true);
  await clock.advance(60_000);
  network.setMode({ kind: 'pass' });
  await expectNotice('database_back', {
    text: /^The database was away for (\d+ s|\d+ min) and is back$/,
    link: '/position-maker',
  });
  await alerts.stop();
  await pool.close();
  await network.close();
});

test('a key with an expiry date at Bybit, 14, 3 and 1 days before, and a backup that nobody writes', async () => {
  const key = keys.newKey();
  const endsAt = new Date(clock.now().getTime() + 15 * DAY_MS);
  keys.site.setKey(key.accountId, { mayTrade: true, mayWithdraw: false, expiresAt: endsAt });
  const entered = await during(keys.enter(user, key, 'Bybit'));
  expect(entered.statusCode, entered.body).toBe(200);
  for (const days of [14, 3, 1]) {
    receiver.received.length = 0;
    own.received.length = 0;
    await clock.set(new Date(endsAt.getTime() - days * DAY_MS + 1_000));
    await expectNotice('key_expires', {
      text: new RegExp(
        `^The Bybit API key of ${user.username} expires in ${days} days?, on ${endsAt.toISOString().slice(0, 10)} `,
      ),
      link: '/create-client',
      isOwn: true,
    });
  }
  await expectNotice('backup_missing', {
    text: /^No backup for \d+ days: run npm run backup$/,
    link: '/audit',
  });
});

/** The result of work that may wait on the clock. */
async function during<Result>(work: Promise<Result>): Promise<Result> {
  let isOver = false;
  work
    .finally(() => {
      isOver = true;
    })
    .catch(() => undefined);
  await expect
    .poll(
      async () => {
        await clock.advance(50);
        return isOver;
      },
      { timeout: 20_000, interval: 5 },
    )
    .toBe(true);
  return await work;
}
