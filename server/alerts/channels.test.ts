import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { NotificationChannel } from '#contract/notification-channels.ts';
import { createCanaries } from '#test/app/canaries.ts';
import type { TestClient } from '#test/app/test-client.ts';
import { startReceiver, status, type TestReceiver } from '#test/app/test-receivers.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';

const PATH = '/api/notification-channels';

let board: World;
let strict: World;
let user: TestUser;
let stranger: TestUser;
let receiver: TestReceiver;

beforeAll(async () => {
  board = await startWorld({ config: { notifyPrivateAddresses: 'allowed' } });
  strict = await startWorld();
  user = await board.createUser();
  stranger = await board.createUser();
  receiver = await startReceiver();
});
beforeEach(async () => {
  await board.query('delete from notification_channels');
  await board.query('delete from rate_limits');
  receiver.received.length = 0;
});
afterAll(async () => {
  await receiver.close();
  await board.close();
  await strict.close();
});

const webhook = (more: object = {}) => ({
  kind: 'webhook',
  name: 'Ops',
  config: { url: `${receiver.url}/hook/of/the/operations` },
  ...more,
});
async function create(client: TestClient, body: object = webhook()) {
  const answer = await client.post(PATH, body);
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json<NotificationChannel & { secret?: string }>();
}
const list = async (client: TestClient) =>
  (await client.get(PATH)).json<{ channels: NotificationChannel[] }>().channels;

describe('channels', () => {
  // Requirements: additions-alerts-13
  test('are seen and changed by their owner and administrators only', async () => {
    const own = await create(user.client);
    expect(own).toMatchObject({
      name: 'Ops',
      enabled: true,
      minSeverity: 'info',
      codes: null,
      quietHours: null,
    });
    expect((await list(user.client)).map(({ id }) => id)).toEqual([own.id]);
    expect(await list(stranger.client)).toEqual([]);
    expect((await list(board.admin)).map(({ owner }) => owner.username)).toEqual([user.username]);
    const url = `${PATH}/${own.id}`;
    expect((await stranger.client.put(url, webhook())).statusCode).toBe(404);
    expect((await stranger.client.delete(url)).statusCode).toBe(404);
    expect((await stranger.client.post(`${url}/test`)).statusCode).toBe(404);
    expect((await board.admin.put(url, webhook({ name: 'Renamed' }))).json()).toMatchObject({
      name: 'Renamed',
      owner: { username: user.username },
    });
    expect((await user.client.delete(url)).statusCode).toBe(200);
    expect((await user.client.delete(url)).statusCode).toBe(404);
  });

  test('of a webhook without a secret get one, which is shown once', async () => {
    const { id, secret } = await create(user.client);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const [shown] = await list(user.client);
    expect(shown?.config).toEqual({ url: `${receiver.url}/…ions`, secret: `…${secret?.slice(-4)}` });
    const changed = await user.client.put(`${PATH}/${id}`, webhook({ config: {} }));
    expect(changed.json()).not.toHaveProperty('secret');
    const own = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
    expect(
      await create(user.client, webhook({ config: { url: receiver.url, secret: own } })),
    ).not.toHaveProperty('secret');
  });

  test('keep what a change leaves out, also when a hint is sent back', async () => {
    const { id, config } = await create(user.client);
    for (const next of [{}, config]) {
      expect((await user.client.put(`${PATH}/${id}`, webhook({ config: next }))).json().config).toEqual(
        config,
      );
      expect((await user.client.post(`${PATH}/${id}/test`)).json()).toMatchObject({ ok: true });
      expect(receiver.received.at(-1)?.path).toBe('/hook/of/the/operations');
    }
    const moved = webhook({ config: { url: `${receiver.url}/another/long/path/there` } });
    expect((await user.client.put(`${PATH}/${id}`, moved)).statusCode).toBe(200);
    await user.client.post(`${PATH}/${id}/test`);
    expect(receiver.received.at(-1)?.path).toBe('/another/long/path/there');
  });

  test('keep a mail password only for the server that it was entered for', async () => {
    const config = {
      host: '127.0.0.1',
      port: 2525,
      secure: false,
      username: 'me',
      password: 'secret',
      from: 'a@x.de',
      to: 'b@x.de',
    };
    const { id } = await create(user.client, { kind: 'email', name: 'Mail', config });
    const put = async (change: object) =>
      (await user.client.put(`${PATH}/${id}`, { kind: 'email', name: 'Mail', config: change })).json().config;
    expect(await put({ to: 'c@x.de' })).toMatchObject({ to: 'c@x.de', password: '…' });
    expect(await put({ host: '127.0.0.2' })).not.toHaveProperty('password');
  });

  test.each([
    ['another kind', { kind: 'pager' }, /^kind$/],
    ['no name', { name: ' ' }, /^name$/],
    ['no address', { config: {} }, /^config\.url$/],
    ['an address that is none', { config: { url: 'nowhere' } }, /^config\.url$/],
    ['a field of another kind', { config: { url: 'https://example.com', chatId: '1' } }, /^config$/],
    ['a bad secret', { config: { url: 'https://example.com', secret: 'whsec_short' } }, /^config\.secret$/],
    ['an unknown code', { codes: ['nothing'] }, /^codes\.0$/],
    ['an unknown severity', { minSeverity: 'loud' }, /^minSeverity$/],
    ['bad quiet hours', { quietHours: { from: '24:00', to: '07:00' } }, /^quietHours\.from$/],
    [
      'a bad Telegram token',
      { kind: 'telegram', config: { botToken: 'x', chatId: '1' } },
      /^config\.botToken$/,
    ],
    [
      'a line break in a mail address',
      {
        kind: 'email',
        config: { host: 'x.de', port: 25, secure: false, from: 'a@x.de\r\nBcc: b@x.de', to: 'c@x.de' },
      },
      /^config\.from$/,
    ],
  ])('with %s are refused by field', async (_what, change, path) => {
    const answer = await user.client.post(PATH, webhook(change));
    expect(answer.statusCode).toBe(400);
    expect(answer.json().errors[0].path).toMatch(path);
  });

  // Requirements: additions-alerts-11
  test.each([
    'http://example.com/',
    'https://127.0.0.1/',
    'https://10.1.2.3/hook',
    'https://169.254.169.254/latest',
    'https://[::ffff:192.168.0.1]/',
    'https://localhost/',
  ])('to %s are refused unless private addresses are allowed', async (url) => {
    const answer = await strict.admin.post(PATH, webhook({ config: { url } }));
    expect(answer.statusCode).toBe(400);
    expect(answer.json().errors[0].path).toBe('config.url');
  });

  test('of one user are at most twenty', async () => {
    for (let count = 0; count < 20; count += 1) await create(user.client);
    expect((await user.client.post(PATH, webhook())).statusCode).toBe(409);
    await create(stranger.client);
  });

  test('need a step-up outside paper mode but for a test and the end of a mute, and no API token manages them', async () => {
    const declared = board.app.declaredRoutes.filter(
      ({ url, write }) => url.startsWith(PATH) && write !== null,
    );
    expect(declared.map(({ url, method, write }) => [method, url.slice(PATH.length), write?.stepUp])).toEqual(
      [
        ['POST', '', 'outsidePaper'],
        ['PUT', '/:id', 'outsidePaper'],
        ['DELETE', '/:id', 'outsidePaper'],
        ['POST', '/:id/test', 'never'],
        ['DELETE', '/:id/mute', 'never'],
      ],
    );
    expect(declared.map(({ tokenScope }) => tokenScope)).toEqual(declared.map(() => null));
  });
});

describe('a test of a channel', () => {
  test('says whether it was accepted, and ten a minute are made', async () => {
    const { id } = await create(user.client);
    const trial = () => user.client.post(`${PATH}/${id}/test`);
    expect((await trial()).json()).toEqual({ ok: true, detail: 'Accepted (204)' });
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ code: 'test', severity: 'info' });
    receiver.answer(status(404, {}, 'a secret'));
    expect((await trial()).json()).toEqual({ ok: false, detail: 'The receiver answered 404' });
    for (let count = 0; count < 8; count += 1) await trial();
    const refused = await trial();
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  });
});

// Requirements: additions-alerts-12
test('secrets are in no answer, log line, audit entry or column', async () => {
  const canaries = createCanaries();
  const controls = createCanaries();
  const safe = (what: string) => canaries.next(what).replaceAll(/[^\w]/g, 'x');
  const control = controls.next('control');
  const bodies = [
    { kind: 'webhook', config: { url: `${receiver.url}/${safe('path')}` } },
    { kind: 'slack', config: { url: `${receiver.url}/${safe('slack')}` } },
    { kind: 'discord', config: { url: `http://127.0.0.1:1/${safe('discord')}?x=${safe('query')}` } },
    { kind: 'telegram', config: { botToken: `12345:${safe('token')}`, chatId: '1' } },
    {
      kind: 'email',
      config: {
        host: '127.0.0.1',
        port: 1,
        secure: false,
        username: 'me',
        password: canaries.next('password'),
        from: 'a@x.de',
        to: 'b@x.de',
      },
    },
  ];
  const answers: string[] = [];
  for (const body of bodies) {
    const made = await user.client.post(PATH, { ...body, name: control });
    const { id } = made.json<{ id: string }>();
    const url = `${PATH}/${id}`;
    const wrong = { ...body, name: control, codes: ['nothing'] };
    for (const answer of [
      made,
      await user.client.put(url, { ...body, name: control }),
      await user.client.put(url, wrong),
      await user.client.post(`${url}/test`),
      await user.client.get(PATH),
      await board.admin.get(PATH),
    ]) {
      answers.push(answer.body);
    }
  }
  answers.push((await board.admin.get('/api/audit?limit=100')).body);
  const tables = await board.query(
    "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  const stored: string[] = [];
  for (const { table_name: table } of tables) {
    stored.push(JSON.stringify(await board.query(`select * from "${table}"`)));
  }
  const found = (one: typeof canaries) => [
    ...one.findIn('answers', answers.join('\n')),
    ...one.findIn('log', board.logged()),
    ...one.findIn('database', stored.join('\n')),
  ];
  expect(found(canaries)).toEqual([]);
  expect(found(controls).length).toBeGreaterThan(1);
});
