import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { NoticeCode } from '#contract/notices.ts';
import type { NotificationChannel } from '#contract/notification-channels.ts';
import { createOverview } from '#server/console/overview/read-overview.ts';
import { handOverLeases, withLease } from '#server/platform/jobs/leases.ts';
import { type FakeClock, fakeClock } from '#test/app/fake-clock.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { createRefusals } from '#test/app/refused-writes.ts';
import type { TestClient } from '#test/app/test-client.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';
import { makeNotices } from '../make-notices.ts';
import { createChatAnswers } from './answer-chats.ts';

const CHANNELS = '/api/notification-channels';
const TOKEN = '4711:abcdefghijklmnopqrstuvwxyz';
const CHAT = -100;
const PERSON = 77;

let clock: FakeClock;
let bot: Awaited<ReturnType<typeof startBotServer>>;
let board: World;
let user: TestUser;
let writes: Awaited<ReturnType<typeof createRefusals>>;

interface Written {
  chat: string;
  text: string;
  button: string | null;
}

/** A Bot API server: it keeps updates until a later offset is asked for, and numbers the messages of its chats. */
async function startBotServer() {
  let updates: { update_id: number; [field: string]: unknown }[] = [];
  const written: Written[] = [];
  const offsets: (number | null)[] = [];
  const failures = new Map<string, number>();
  let nextUpdate = 1_000;
  let nextMessage = 1;
  let held: { asked: () => void; released: Promise<void> } | null = null;
  const handlers: Record<string, (fields: BotFields) => unknown> = {
    getUpdates({ offset }) {
      offsets.push(offset ?? null);
      if (offset !== undefined) updates = updates.filter(({ update_id }) => update_id >= offset);
      return [...updates];
    },
    sendMessage({ chat_id: chat = '', text = '', reply_markup }) {
      const [[button] = []] = reply_markup?.inline_keyboard ?? [];
      written.push({ chat, text, button: button?.callback_data ?? null });
      return { message_id: nextMessage++ };
    },
    answerCallbackQuery: () => true,
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const method = request.url?.replace(`/bot${TOKEN}/`, '') ?? '';
    const status = failures.get(method) ?? failures.get('all') ?? (method in handlers ? 200 : 401);
    const result = status === 200 ? handlers[method]?.(JSON.parse(body)) : undefined;
    if (method === 'getUpdates' && held !== null) {
      const { asked, released } = held;
      held = null;
      asked();
      await released;
    }
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ok: status === 200, result }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const message = (chat: number, text: string) => ({
    message_id: nextMessage++,
    chat: { id: chat },
    from: { id: PERSON, username: 'ada' },
    text,
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    written,
    offsets,
    write: (text: string, chat = CHAT) =>
      updates.push({ update_id: nextUpdate++, message: message(chat, text) }),
    press: (data: string, chat = CHAT) =>
      updates.push({
        update_id: nextUpdate++,
        callback_query: { id: '1', from: { id: PERSON }, data, message: message(chat, '') },
      }),
    /** Telegram chooses the next id of an update after a week without any. */
    restartUpdatesAt(id: number) {
      nextUpdate = id;
    },
    fail(status: number | null, method = 'all') {
      if (status === null) failures.clear();
      else failures.set(method, status);
    },
    /** Holds back the next answer to `getUpdates`, which was read from the queue by then. */
    hold() {
      const { promise: wasAsked, resolve: asked } = Promise.withResolvers<void>();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      held = { asked, released };
      return { wasAsked, release };
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
interface BotFields {
  offset?: number;
  chat_id?: string;
  text?: string;
  reply_markup?: { inline_keyboard: { callback_data: string }[][] };
}

beforeAll(async () => {
  clock = fakeClock(new Date());
  bot = await startBotServer();
  board = await startWorld({
    clock,
    config: { notifyPrivateAddresses: 'allowed', telegramBaseUrl: bot.url, displayTimezone: 'UTC' },
  });
  user = await board.createUser();
  writes = await createRefusals({ query: board.query }, 'telegram_bots');
});
beforeEach(async () => {
  clock.set(new Date());
  for (const table of [
    'notification_channels',
    'trading_stops',
    'flattens',
    'notice_events',
    'notice_states',
  ])
    await board.query(`delete from ${table}`);
  bot.written.length = 0;
  bot.offsets.length = 0;
  bot.fail(null);
});
afterAll(async () => {
  await board.close();
  await bot.close();
});

const body = (more: object = {}) => ({
  kind: 'telegram',
  name: 'Phone',
  config: { botToken: TOKEN, chatId: String(CHAT) },
  answers: true,
  ...more,
});
async function create(client: TestClient = board.admin, more: object = {}) {
  const answer = await client.post(CHANNELS, body(more));
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json<NotificationChannel>();
}
async function look(instanceId = 'one') {
  const deps = { ...board.deps, config: { ...board.config, instanceId } };
  const answers = createChatAnswers(deps, { readOverview: createOverview(board.deps) });
  await (await answers.look({ waitSeconds: 0 })).done;
}
/** What is answered to this. */
async function answerTo(text: string, chat = CHAT) {
  bot.written.length = 0;
  bot.write(text, chat);
  await look();
  return bot.written.map((one) => one.text).join('\n');
}
const stops = () =>
  board.query('select scope_kind as kind, scope_value as value from trading_stops order by id');
const commandsInAudit = (channelId: string) =>
  board.query(
    "select actor_name as actor, address, after from audit_log where action = 'command from a chat' and subject_id = $1 order by id",
    [channelId],
  );

describe('an administrator', () => {
  // Requirements: additions-alerts-19
  test('asks how things stand, and what is open', async () => {
    await create();
    expect(await answerTo('/status')).toMatch(
      /^PAPER mode\nNet today \+0\.00 USDT \(0 closed\)\nOpen: 0 positions, .*risk to stops 0\.00 USDT\n/,
    );
    expect(await answerTo('/positions@the_bot')).toBe('No open positions');
    expect(await answerTo('/resume')).toContain('/status, /positions, /stop');
    expect(await answerTo('good morning')).toBe('');
  });

  // Requirements: additions-alerts-19
  test('stops new entries of all, a strategy, a token and a user, and lifts nothing', async () => {
    const { id } = await create();
    expect(await answerTo('/stop')).toBe(
      'New entries are stopped for everybody. They are resumed on the screens only',
    );
    await answerTo('/stop strategy Tesla');
    await answerTo('/stop token btc');
    await answerTo(`/stop user ${user.username}`);
    const made = [
      { kind: 'all', value: null },
      { kind: 'strategy', value: 'Tesla' },
      { kind: 'token', value: 'BTC' },
      { kind: 'user', value: user.user.id },
    ];
    expect(await stops()).toEqual(made);
    for (const text of ['/stop BTC', '/stop user nobody@example.com', '/start', '/unstop all', '/stop off']) {
      expect(await answerTo(text)).not.toMatch(/^New entries/);
    }
    expect(await stops()).toEqual(made);
    expect(await answerTo('/status')).toContain('New entries are stopped for everybody, strategy Tesla, BTC');
    expect((await commandsInAudit(id))[0]).toEqual({
      actor: 'admin@example.com',
      address: `Telegram chat ${CHAT}, person ${PERSON}`,
      after: expect.objectContaining({ command: '/stop', chat: String(CHAT), person: String(PERSON) }),
    });
  });

  // Requirements: additions-alerts-20
  test('closes all positions with a button that works once and for 60 seconds', async () => {
    await create();
    const flattens = async () => (await board.query('select scope_kind from flattens')).length;
    expect(await answerTo('/flatten token BTC')).toBe(
      'Stop new entries and close all positions for BTC? The button works for 60 seconds',
    );
    const [question] = bot.written;
    const data = question?.button ?? '';
    expect(await flattens()).toBe(0);
    clock.advance(60_000);
    bot.press(data);
    await look();
    expect(bot.written.at(-1)?.text).toMatch(/^Nothing was done\. The question has expired/);
    await answerTo('/flatten token BTC');
    const fresh = bot.written[0]?.button ?? '';
    clock.advance(59_999);
    bot.press(fresh);
    bot.press(fresh);
    bot.press('flatten:anything');
    await look();
    expect(bot.written.slice(1).map(({ text }) => text)).toEqual([
      'All positions are being closed for BTC; new entries are stopped',
      'Nothing was done. The button was pressed before, and works once',
      'Nothing was done. The question has expired',
    ]);
    expect(await flattens()).toBe(1);
    expect(await stops()).toEqual([{ kind: 'token', value: 'BTC' }]);
  });

  test('mutes a channel for everything but critical notices, until its owner ends that', async () => {
    const { id } = await create();
    expect(await answerTo('/mute 9h')).toMatch(/^Nothing was done/);
    expect(await answerTo('/mute 1h')).toMatch(/^Only critical notices are sent here until /);
    const mutedUntil = async () => {
      const { channels } = (await board.admin.get(CHANNELS)).json<{ channels: NotificationChannel[] }>();
      return channels.find((one) => one.id === id)?.mutedUntil ?? null;
    };
    expect(Date.parse((await mutedUntil()) ?? '') - clock.now().getTime()).toBe(3_600_000);
    const unmute = `${CHANNELS}/${id}/mute`;
    expect((await user.client.delete(unmute)).statusCode).toBe(404);
    expect((await board.admin.delete(unmute)).json()).toMatchObject({ id, mutedUntil: null });
    expect(await mutedUntil()).toBeNull();
  });
});

// Requirements: additions-alerts-19
testEveryCase('an ordinary user asks and stops for the own account only', async () => {
  await create(user.client);
  expect(await answerTo('/status')).toMatch(/^PAPER mode\n.*\n.*\nTrading: /);
  for (const text of ['/stop all', '/positions', '/flatten', '/mute 1h', '/stop token BTC']) {
    expect(await answerTo(text)).not.toMatch(/^New entries are stopped for everybody|^Only critical/);
  }
  // /stop all names no one: it is the user's own stop.
  expect(await stops()).toEqual([{ kind: 'user', value: user.user.id }]);
  expect(bot.written.every(({ button }) => button === null)).toBe(true);
});

describe('nothing is answered', () => {
  // Requirements: additions-alerts-21
  test('in unknown chats, and one notice a day reports them', async () => {
    await create();
    for (let count = 0; count < 3; count += 1) expect(await answerTo('/stop', 5)).toBe('');
    expect(await stops()).toEqual([]);
    const noted = async () =>
      (await board.query("delete from notice_events where code = 'chat_unknown' returning data")).map(
        ({ data }) => data,
      );
    await withLease({ db: board.deps.db, key: 'notices', holder: 'test' }, async (lease) => {
      while (await makeNotices(board.deps, lease));
    });
    const told = await board.query('select code, text, severity, link from notices');
    const expectNotice = (code: NoticeCode, expected: object) =>
      expect(told.filter((one) => one.code === code)).toEqual([{ code, ...expected }]);
    expectNotice('chat_unknown', {
      text: 'The Telegram bot of the channel Phone got a message from the unknown chat 5 (person 77)',
      severity: 'warning',
      link: '/alerts',
    });
    clock.advance(24 * 3_600_000);
    await answerTo('/stop', 5);
    expect(await noted()).toEqual([{ channel: 'Phone', chat: '5', person: '77' }]);
  });

  test('while the channel is off or commands are, nor later to what was written meanwhile', async () => {
    const { id } = await create(user.client);
    const put = (more: object) => user.client.put(`${CHANNELS}/${id}`, body({ config: {}, ...more }));
    for (const off of [{ enabled: false }, { answers: false }]) {
      expect((await put(off)).statusCode).toBe(200);
      const asked = bot.offsets.length;
      expect(await answerTo('/stop')).toBe('');
      expect(bot.offsets).toHaveLength(asked);
      expect((await put({})).statusCode).toBe(200);
      expect(await answerTo('/positions')).toBe('/status, /stop (your account)');
    }
    await board.query('update users set is_active = false where id = $1', [user.user.id]);
    expect(await answerTo('/stop')).toBe('');
    await board.query('update users set is_active = true where id = $1', [user.user.id]);
    expect(await answerTo('/status')).toBe('');
    expect(await stops()).toEqual([]);
  });
});

// Requirements: additions-alerts-22
test('commands count below the message that announces them, also within the second of the switch', async () => {
  bot.write('/stop');
  bot.press('flatten:anything');
  await create();
  expect(bot.written).toEqual([
    {
      chat: String(CHAT),
      text: 'Signal Board answers commands that are written below this message: /help',
      button: null,
    },
  ]);
  expect(await answerTo('/positions')).toBe('No open positions');
  expect(await stops()).toEqual([]);
});

describe('each update is handled once', () => {
  const shownError = async (id: string) =>
    (await board.admin.get(CHANNELS))
      .json<{ channels: NotificationChannel[] }>()
      .channels.find((one) => one.id === id)?.answersError;

  // Requirements: additions-alerts-21
  test('by whichever instance asks, and by the next one when an instance loses the bot', async () => {
    const { id } = await create();
    bot.written.length = 0;
    bot.write('/status');
    await Promise.all([look('one'), look('two')]);
    await look('two');
    expect(bot.written).toHaveLength(1);
    bot.write('/stop');
    const answer = bot.hold();
    const late = look('one');
    await answer.wasAsked;
    await handOverLeases(board.deps.db, 'one');
    await look('two');
    answer.release();
    await late;
    expect(bot.written).toHaveLength(2);
    expect(await commandsInAudit(id)).toMatchObject([
      { after: { command: '/status' } },
      { after: { command: '/stop' } },
    ]);
  });

  // Requirements: additions-alerts-21
  test('when Telegram is away, and when its update ids begin anew after a quiet week', async () => {
    const { id } = await create();
    bot.fail(409);
    expect(await answerTo('/positions')).toBe('');
    expect(await shownError(id)).toBe('The receiver answered 409');
    bot.fail(null);
    bot.fail(500, 'sendMessage');
    await look();
    expect(await commandsInAudit(id)).toHaveLength(1);
    expect(await shownError(id)).toBeNull();
    bot.fail(null);
    expect(await answerTo('/positions')).toBe('No open positions');
    await look();
    clock.advance(8 * 86_400_000);
    bot.restartUpdatesAt(5);
    expect(await answerTo('/positions')).toBe('No open positions');
  });

  // Requirements: additions-alerts-21
  test('when the database does not take that it was handled', async () => {
    await create();
    await writes.refuse();
    expect(await answerTo('/stop token BTC')).toBe('');
    await writes.allow();
    await look();
    await look();
    expect(bot.written.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^New entries are stopped for BTC/),
    ]);
    expect(await stops()).toEqual([{ kind: 'token', value: 'BTC' }]);
  });
});

// Requirements: additions-alerts-22
test('the switch wants a step-up in every mode, the owner, Telegram and a chat with a number', async () => {
  const plain = await board.signIn(user.username, user.password, { stepUp: false });
  expect((await plain.post(CHANNELS, body())).json()).toMatchObject({ failureType: 'stepUpRequired' });
  expect((await plain.post(CHANNELS, body({ answers: false }))).statusCode).toBe(201);
  const { id } = await create(user.client);
  const other = body({ config: { chatId: '9' } });
  expect((await plain.put(`${CHANNELS}/${id}`, other)).json()).toMatchObject({
    failureType: 'stepUpRequired',
  });
  expect((await plain.put(`${CHANNELS}/${id}`, body({ name: 'New name' }))).statusCode).toBe(200);
  const { answers: _left, ...kept } = other;
  expect((await board.admin.put(`${CHANNELS}/${id}`, kept)).json()).toMatchObject({ answers: false });
  for (const wrong of [
    board.admin.put(`${CHANNELS}/${id}`, other),
    user.client.post(CHANNELS, body({ config: { botToken: TOKEN, chatId: '@a_channel' } })),
    user.client.post(CHANNELS, { ...body(), kind: 'slack', config: { url: `${bot.url}/slack` } }),
  ]) {
    expect((await wrong).json().errors?.[0]?.path).toBe('answers');
  }
});
