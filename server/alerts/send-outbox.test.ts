import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { NoticeCode } from '#contract/notices.ts';
import type { CreatedChannel, NotificationChannel } from '#contract/notification-channels.ts';
import type { Deps } from '#server/deps.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import type { TestClient } from '#test/app/test-client.ts';
import { endless, hang, startReceiver, status, type TestReceiver } from '#test/app/test-receivers.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';
import { makeNotices } from './make-notices.ts';
import { createOutbox } from './send-outbox.ts';

const clock = fakeClock('2026-05-04T12:00:00.000Z');
let board: World;
let user: TestUser;
let receiver: TestReceiver;
let other: TestReceiver;
let deps: Deps;

beforeAll(async () => {
  board = await startWorld({
    clock,
    config: {
      notifyPrivateAddresses: 'allowed',
      displayTimezone: 'UTC',
      publicUrl: 'https://board.example.com',
    },
  });
  user = await board.createUser();
  deps = board.deps;
  receiver = await startReceiver();
  other = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await other.close();
  await board.close();
});
beforeEach(async () => {
  await board.query('delete from notice_deliveries');
  await board.query('delete from notification_channels');
  await board.query('delete from notices');
  await board.query('delete from notice_events');
  clock.set('2026-05-04T12:00:00.000Z');
  for (const one of [receiver, other]) {
    one.received.length = 0;
    one.answer();
    one.answerAlways();
  }
});

async function addChannel(url: string, more: object = {}, client: TestClient = board.admin) {
  const body = { kind: 'webhook', name: 'Ops', config: { url }, ...more };
  const answer = await client.post('/api/notification-channels', body);
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json<CreatedChannel>();
}

const channel = async (id: string) => {
  const { channels } = (await board.admin.get('/api/notification-channels')).json<{
    channels: NotificationChannel[];
  }>();
  return channels.find((one) => one.id === id);
};

/** Tells things of different kinds, which are not put together, in this order. */
const CODES: NoticeCode[] = [
  'instance_started',
  'backup_missing',
  'database_back',
  'exchange_recovered',
  'disk_low',
];
async function tell(...codes: NoticeCode[]) {
  await noteEvents(
    deps.db,
    codes.map((code) => ({ code, at: clock.now(), data: { reason: code } })),
  );
  await withLease({ db: deps.db, key: 'notices', holder: 'test' }, async (lease) => {
    while (await makeNotices(deps, lease));
  });
}

const outboxOf = (instanceId = 'one') => createOutbox({ ...deps, config: { ...deps.config, instanceId } });
/** One round, until every channel is through. */
const send = async (outbox = outboxOf()) => (await outbox.send()).done;
const codesAt = ({ received }: TestReceiver) =>
  received.map(({ body }) => (JSON.parse(body) as { code: string }).code);
const idsAt = ({ received }: TestReceiver) => received.map(({ headers }) => headers['webhook-id']);
const states = async () =>
  (await board.query('select state, count(*)::int from notice_deliveries group by state order by state')).map(
    ({ state, count }) => [state, count],
  );

describe('the outbox', () => {
  // Requirements: additions-alerts-8
  test('sends in order, signed with the secret that was shown once, and links to the screen', async () => {
    const { id, secret = '' } = await addChannel(receiver.url);
    // Receivers take no signature that is older than five minutes.
    const sentAt = new Date();
    clock.set(sentAt);
    await tell(...CODES);
    await send();
    expect(codesAt(receiver)).toEqual(CODES);
    for (const { body, headers } of receiver.received) {
      const message = new Webhook(secret).verify(body, headers as Record<string, string>, {
        jsonParse: true,
      }) as { link: string };
      expect(message.link).toMatch(/^https:\/\/board\.example\.com\//);
    }
    expect(new Set(idsAt(receiver)).size).toBe(CODES.length);
    expect(await states()).toEqual([['sent', CODES.length]]);
    clock.set('2026-05-04T12:00:00.000Z');
    expect(await channel(id)).toMatchObject({
      lastError: null,
      waiting: 0,
      lastSentAt: sentAt.toISOString(),
    });
  });

  test('a message that cannot be made is shown at its channel and tried again, like one that is not accepted', async () => {
    const { id } = await addChannel(receiver.url);
    await tell('instance_started');
    const outbox = createOutbox(deps, { send: () => Promise.reject(new TypeError('no such template')) });
    await send(outbox);
    expect(await channel(id)).toMatchObject({
      lastError: expect.stringContaining('see the server log'),
      waiting: 1,
    });
    clock.advance(1_000);
    await send();
    expect(codesAt(receiver)).toEqual(['instance_started']);
  });

  // Requirements: additions-alerts-9
  test('repeats what was not accepted after 1 s, 2 s, 4 s … under the same id, and nothing overtakes it', async () => {
    const { id } = await addChannel(receiver.url);
    receiver.answer(status(500), status(500), status(500));
    await tell('instance_started', 'disk_low');
    await send();
    expect(await channel(id)).toMatchObject({ lastError: 'The receiver answered 500', waiting: 2 });
    await send();
    expect(receiver.received).toHaveLength(1);
    for (const [waitMs, tries] of [
      [1_000, 2],
      [2_000, 3],
      [3_999, 3],
      [1, 5],
    ] as const) {
      clock.advance(waitMs);
      await send();
      expect(receiver.received).toHaveLength(tries);
    }
    expect(codesAt(receiver)).toEqual([...Array(4).fill('instance_started'), 'disk_low']);
    expect(new Set(idsAt(receiver)).size).toBe(2);
    expect(await channel(id)).toMatchObject({ lastError: null, waiting: 0 });
  });

  // Requirements: additions-alerts-9
  test('keeps everything for a receiver that is down for an hour, and delays no other channel', async () => {
    const { id } = await addChannel(receiver.url);
    await addChannel(other.url);
    await receiver.down();
    const noted: NoticeCode[] = [];
    for (let minute = 0; minute < 60; minute += 1) {
      const code = minute % 15 === 0 ? CODES[minute / 15] : undefined;
      if (code !== undefined) {
        noted.push(code);
        await tell(code);
      }
      await send();
      expect(codesAt(other)).toEqual(noted);
      clock.advance(60_000);
    }
    expect(await channel(id)).toMatchObject({
      lastError: 'The receiver refused the connection',
      waiting: noted.length,
    });
    await receiver.up();
    clock.advance(3_600_000);
    await send();
    expect(codesAt(receiver)).toEqual(noted);
    expect(await channel(id)).toMatchObject({ lastError: null, waiting: 0 });
  });

  testEveryCase('waits at most an hour between tries, and as long as the receiver asks for', async () => {
    await addChannel(receiver.url);
    receiver.answerAlways(status(500));
    await tell('disk_low');
    for (let count = 0; count < 14; count += 1) {
      await send();
      clock.advance(3_600_000);
    }
    expect(receiver.received).toHaveLength(14);
    receiver.answer(status(429, { 'retry-after': '3000' }));
    await board.query('update notification_channels set failures = 0, retry_at = null');
    await send();
    clock.advance(2_999_000);
    await send();
    expect(receiver.received).toHaveLength(15);
    clock.advance(1_001);
    await send();
    expect(receiver.received).toHaveLength(16);
  });

  test('gives up what is a day old, and goes on with what is younger', async () => {
    await addChannel(receiver.url);
    receiver.answerAlways(status(500));
    await tell('instance_started');
    await send();
    clock.advance(23 * 3_600_000);
    await tell('disk_low');
    clock.advance(3_600_001);
    receiver.answerAlways();
    await send();
    expect(codesAt(receiver)).toEqual(['instance_started', 'disk_low']);
    expect(await states()).toEqual([
      ['given up', 1],
      ['sent', 1],
    ]);
  });

  test.each([
    ['hangs', hang],
    ['answers without an end', endless(500)],
  ])('a receiver that %s delays no other channel', async (_what, answer) => {
    await addChannel(receiver.url, { name: 'Bad' });
    await addChannel(other.url, { name: 'Good' });
    receiver.answerAlways(answer);
    await tell(...CODES);
    const outbox = outboxOf();
    await outbox.send();
    await expect.poll(() => codesAt(other)).toEqual(CODES);
    await tell('exchange_unreachable');
    await outbox.send();
    await expect.poll(() => codesAt(other)).toEqual([...CODES, 'exchange_unreachable']);
    await outbox.stop();
    expect(receiver.received).toHaveLength(1);
  });

  // Requirements: additions-alerts-8
  test('an instance that dies after the receiver has accepted sends again under the same id, and in order', async () => {
    await addChannel(receiver.url);
    await tell(...CODES);
    // Dies between the acceptance and its record: the lease stays, the row waits.
    const dying = createOutbox(deps, {
      send: async (config, message, options) => {
        const { sendMessage } = await import('./send-message.ts');
        const result = await sendMessage(config, message, options);
        if (receiver.received.length === 3) {
          await board.query("update leases set version = default where key like 'notification-channel:%'");
        }
        return result;
      },
    });
    await send(dying);
    expect(receiver.received).toHaveLength(3);
    await board.query("update leases set lease_until = '-infinity' where key like 'notification-channel:%'");
    await send();
    expect(codesAt(receiver)).toEqual([...CODES.slice(0, 3), ...CODES.slice(2)]);
    const ids = idsAt(receiver);
    expect(ids[3]).toBe(ids[2]);
    expect(await states()).toEqual([['sent', CODES.length]]);
  });

  testEveryCase('two instances never send to one channel at the same time', async () => {
    await addChannel(receiver.url);
    const [one, two] = [outboxOf('one'), outboxOf('two')];
    const told: string[] = [];
    for (let round = 0; round < 10; round += 1) {
      await tell(...CODES);
      clock.advance(61_000);
      told.push(...CODES);
      await Promise.all([send(one), send(two)]);
    }
    await send(one);
    expect(codesAt(receiver)).toEqual(told);
    expect(new Set(idsAt(receiver)).size).toBe(told.length);
  });

  test('a stop ends a try that hangs', async () => {
    await addChannel(receiver.url);
    receiver.answerAlways(hang);
    await tell('disk_low');
    const outbox = outboxOf();
    await outbox.send();
    await expect.poll(() => receiver.received).toHaveLength(1);
    await outbox.stop();
    // The stop is no failure of the receiver.
    expect(await board.query('select failures from notification_channels')).toEqual([{ failures: 0 }]);
    expect(await states()).toEqual([['waiting', 1]]);
  });
});

describe('a channel', () => {
  test('gets what is severe enough and of the chosen kinds', async () => {
    await addChannel(receiver.url, { minSeverity: 'warning', codes: ['instance_started', 'backup_missing'] });
    await addChannel(other.url, { minSeverity: 'critical' });
    await tell(...CODES);
    await send();
    expect(codesAt(receiver)).toEqual(['backup_missing']);
    expect(codesAt(other)).toEqual(['database_back', 'disk_low']);
  });

  test('that is switched off gets nothing, not even later', async () => {
    const made = await addChannel(receiver.url, { enabled: false });
    await tell('disk_low');
    const body = { kind: 'webhook', name: 'Ops', config: {}, enabled: true };
    expect((await board.admin.put(`/api/notification-channels/${made.id}`, body)).statusCode).toBe(200);
    await send();
    expect(receiver.received).toEqual([]);
  });

  // Requirements: additions-alerts-13
  test('of a user gets what concerns this user only', async () => {
    const stranger = await board.createUser();
    await addChannel(receiver.url, {}, user.client);
    await addChannel(other.url);
    for (const userId of [user.user.id, stranger.user.id, null]) {
      await noteEvents(deps.db, [
        { code: 'key_refused', userId, data: { reason: 'revoked' }, at: clock.now() },
      ]);
    }
    await tell('disk_low');
    await send();
    expect(codesAt(receiver)).toEqual(['key_refused']);
    expect(JSON.parse(receiver.received[0]?.body ?? '').subject).toMatchObject({ username: user.username });
    expect(codesAt(other)).toEqual(['key_refused', 'disk_low']);
  });

  test('of a user who was deactivated or lost the role gets nothing more', async () => {
    const admin = await board.createUser({ isAdmin: true });
    await addChannel(receiver.url, {}, admin.client);
    await tell('disk_low');
    await board.query('update users set is_admin = false where id = $1', [admin.user.id]);
    await send();
    await board.query('update users set is_admin = true, is_active = false where id = $1', [admin.user.id]);
    await tell('backup_missing');
    await send();
    expect(receiver.received).toEqual([]);
    expect(await states()).toEqual([['given up', 1]]);
  });

  // Requirements: additions-alerts-10
  test('keeps quiet hours: what is critical is sent, the rest follows when they end', async () => {
    clock.set('2026-05-04T22:30:00.000Z');
    await addChannel(receiver.url, { quietHours: { from: '22:00', to: '07:00' } });
    await tell('instance_started', 'disk_low', 'backup_missing');
    await send();
    expect(codesAt(receiver)).toEqual(['disk_low']);
    clock.set('2026-05-05T06:59:59.000Z');
    await send();
    expect(receiver.received).toHaveLength(1);
    clock.set('2026-05-05T07:00:00.000Z');
    await send();
    expect(codesAt(receiver)).toEqual(['disk_low', 'instance_started', 'backup_missing']);
  });

  test('keeps what is not critical while a command from the chat has muted the channel', async () => {
    const { id } = await addChannel(receiver.url);
    await board.query('update notification_channels set muted_until = $2 where id = $1', [
      id,
      new Date(clock.now().getTime() + 3_600_000),
    ]);
    await tell('instance_started', 'disk_low', 'backup_missing');
    clock.advance(3_599_999);
    await send();
    expect(codesAt(receiver)).toEqual(['disk_low']);
    clock.advance(1);
    await send();
    expect(codesAt(receiver)).toEqual(['disk_low', 'instance_started', 'backup_missing']);
  });
});
