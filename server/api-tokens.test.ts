import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { ACTING_USER_HEADER } from '#contract/acting-user.ts';
import { type ApiToken, type CreatedToken, TOKEN_SCOPES, type TokenScope } from '#contract/tokens.ts';
import { type FakeClock, fakeClock } from '#test/app/fake-clock.ts';
import {
  type Answer,
  expectAnswer,
  type TestClient,
  testClient,
  textOf,
  UNKNOWN_ID,
} from '#test/app/test-client.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';
import { resetPassword } from './admin/users/reset-password.ts';
import type { DeclaredRoute } from './platform/http/access.ts';

const DAY_MS = 24 * 60 * 60_000;
const ME = '/api/auth/user';

let clock: FakeClock;
let board: World;
beforeAll(async () => {
  clock = fakeClock(new Date());
  board = await startWorld({ clock, config: { trustProxy: ['127.0.0.1'] } });
});
afterAll(() => board.close());

const inDays = (days: number) => new Date(clock.now().getTime() + days * DAY_MS).toISOString();

function create(client: TestClient, fields: object = {}): Promise<Answer> {
  return client.post('/api/tokens', { name: 'Sheet', scopes: ['read'], expiresAt: null, ...fields });
}
async function created(client: TestClient, fields: object = {}): Promise<CreatedToken> {
  const answer = await create(client, fields);
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json<CreatedToken>();
}
const listed = async (client: TestClient) =>
  (await client.get('/api/tokens')).json<{ tokens: ApiToken[] }>().tokens;

/** Calls with a token instead of a cookie. */
function bearer(token: string): TestClient {
  const { send } = testClient(board.app);
  const headers = { authorization: `Bearer ${token}` };
  const call: TestClient['send'] = (options) =>
    send({ ...options, headers: { ...headers, ...options.headers } });
  const via =
    (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE') =>
    (url: string, body?: unknown, extra: object = {}) =>
      call({ ...extra, method, url, ...(body === undefined ? {} : { payload: body as object }) });
  return {
    cookie: '',
    get: (url, extra) => via('GET')(url, undefined, extra),
    post: via('POST'),
    put: via('PUT'),
    patch: via('PATCH'),
    delete: via('DELETE'),
    send: call,
  };
}

describe('every route', () => {
  const tokens = new Map<TokenScope, TestClient>();
  let owners: { client: TestClient; token: string }[];
  beforeAll(async () => {
    const [user, admin] = [await board.createUser(), await board.createUser({ isAdmin: true })];
    for (const scope of TOKEN_SCOPES) {
      tokens.set(scope, bearer((await created(admin.client, { scopes: [scope] })).token));
    }
    owners = [];
    for (const { client } of [user, admin]) owners.push({ client, ...(await created(client)) });
  });

  const routes = () =>
    board.app.declaredRoutes.filter(({ access }) => access === 'user' || access === 'admin');

  async function call({ method, url }: DeclaredRoute, client: TestClient) {
    const answer = await client.send({
      method: method as 'GET',
      payloadAsStream: true,
      url: url.replace(/:\w+/g, () => randomUUID()).replace('*', 'nothing'),
      ...(['GET', 'HEAD', 'OPTIONS'].includes(method) ? {} : { payload: {} }),
    });
    const message = await textOf(answer);
    return { status: answer.statusCode, message: method === 'HEAD' ? '' : message };
  }

  test('takes a token with exactly the scope that its rule names', async () => {
    const seen = new Map<TokenScope | null, number>();
    // HEAD runs what GET runs.
    const called = routes().filter(({ method }) => method !== 'HEAD' || inject('everyCase'));
    for (const [index, route] of called.entries()) {
      const { method, url, tokenScope } = route;
      seen.set(tokenScope, (seen.get(tokenScope) ?? 0) + 1);
      const inItsTurn = TOKEN_SCOPES[index % TOKEN_SCOPES.length];
      for (const [scope, client] of tokens) {
        if (scope !== tokenScope && scope !== inItsTurn && !inject('everyCase')) continue;
        const name = `${scope}: ${method} ${url}`;
        const { status, message } = await call(route, client);
        if (scope === tokenScope) {
          expect([401, 403, 500], name).not.toContain(status);
          continue;
        }
        expect(status, name).toBe(403);
        if (method === 'HEAD') continue;
        const reason =
          tokenScope === null ? 'API tokens cannot do this' : `The API token has no scope ${tokenScope}`;
        expect(message, name).toContain(reason);
      }
    }
    for (const scope of [...TOKEN_SCOPES, null]) expect(seen.get(scope), `${scope}`).toBeGreaterThan(3);
  });

  test('with the scope read changes nothing', () => {
    for (const { method, url, tokenScope, write } of routes()) {
      if (method === 'GET' || method === 'HEAD' || tokenScope !== 'read') continue;
      expect(write?.audit, `${method} ${url}`).toEqual([]);
    }
  });

  test('about sign-in, factors, sessions, tokens, webhooks or exchange keys is closed to tokens', () => {
    const closed = /^\/api\/(auth|tokens|hooks|admin\/hooks)\b|exchange-credentials|change-password/;
    // Whose the token is; a list without secrets; hints of keys.
    const open = /^(GET|HEAD) \/api\/(auth\/user$|hooks|admin\/hooks|.*exchange-credentials$)/;
    for (const { method, url, tokenScope } of routes()) {
      const name = `${method} ${url}`;
      if (closed.test(url) && !open.test(name)) expect(tokenScope, name).toBeNull();
    }
  });

  test('for administrators is closed to the tokens of ordinary users', async () => {
    const [user] = owners;
    for (const route of routes().filter(({ access, method }) => access === 'admin' && method !== 'HEAD')) {
      const { status, message } = await call(route, bearer(user?.token ?? ''));
      expect([status, message], route.url).toEqual([403, JSON.stringify({ message: 'Administrators only' })]);
    }
  });

  test('answers a token as its owner', async () => {
    for (const { client, token } of owners) {
      for (const url of [ME, '/api/hooks', '/api/user-settings', '/api/my-positions?limit=1']) {
        const [own, withToken] = [await client.get(url), await bearer(token).get(url)];
        expect([withToken.statusCode, withToken.body.replace(/"at":"[^"]+"/, '')], url).toEqual([
          own.statusCode,
          own.body.replace(/"at":"[^"]+"/, ''),
        ]);
      }
    }
  });

  test('is described with the scope that it needs', async () => {
    const { paths, components } = (await board.admin.get('/api/docs/json')).json();
    expect(components.securitySchemes.token).toMatchObject({ type: 'http', scheme: 'bearer' });
    expect(paths['/api/trigger-automation'].post.security).toEqual([{ session: [] }, { token: ['trade'] }]);
    expect(paths['/api/trigger-automation'].post.description).toContain('needs the scope `trade`');
    expect(paths['/api/tokens'].get.security).toEqual([{ session: [] }]);
    expect(paths['/api/tokens'].get.description).toBe('Closed to API tokens.');
    expect(paths['/api/auth/login'].post.security).toBeUndefined();
  });
});

describe('an API token', () => {
  test('is shown once, and listed with its hint', async () => {
    const { client, user } = await board.createUser();
    const expiresAt = inDays(30);
    const token = await created(client, { scopes: ['trade', 'read', 'read'], expiresAt });
    expect(token.token).toMatch(/^sb_[\w-]{43}$/);
    const { token: secret, ...shown } = token;
    expect(shown).toMatchObject({ scopes: ['read', 'trade'], expiresAt, hint: `…${secret.slice(-4)}` });
    expect(await listed(client)).toEqual([shown]);
    const rows = await board.query('select * from api_tokens where user_id = $1', [user.id]);
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(board.logged()).not.toContain(secret);
  });

  test('needs a step-up to be created, and none to be deleted', async () => {
    const { username, password, user } = await board.createUser();
    const client = await board.signIn(username, password, { stepUp: false });
    expectAnswer(await create(client), 403, {
      message: 'Please confirm with your password',
      failureType: 'stepUpRequired',
    });
    await client.post('/api/auth/step-up', { password });
    const { id, token, hint } = await created(client, { name: 'Robot' });
    clock.advance(10 * 60_000);
    expectAnswer(await client.delete(`/api/tokens/${id}`), 200, 'The API token was deleted');
    expectAnswer(await bearer(token).get(ME), 401, 'The API token is not valid');
    const values = { hint, scopes: ['read'], expiresAt: null };
    expect(
      await board.query(
        `select actor_kind, action, subject_id, subject_name, before, after from audit_log
         where actor_id = $1 and subject_kind = 'token' order by id`,
        [user.id],
      ),
    ).toEqual([
      {
        actor_kind: 'user',
        action: 'API token created',
        subject_id: id,
        subject_name: 'Robot',
        before: null,
        after: values,
      },
      {
        actor_kind: 'user',
        action: 'API token deleted',
        subject_id: id,
        subject_name: 'Robot',
        before: values,
        after: null,
      },
    ]);
  });

  test('belongs to its user: nobody else sees or deletes it', async () => {
    const [{ client }, other] = [await board.createUser(), await board.createUser({ isAdmin: true })];
    const { id, token } = await created(client);
    expectAnswer(await other.client.delete(`/api/tokens/${id}`), 404, 'API token not found');
    expectAnswer(await client.delete(`/api/tokens/${UNKNOWN_ID}`), 404, 'API token not found');
    expect(await listed(other.client)).toEqual([]);
    expect((await bearer(token).get(ME)).statusCode).toBe(200);
  });

  test.each([
    ['no name', { name: ' ' }, 'Name is required'],
    ['a long name', { name: 'x'.repeat(61) }, 'Name must be at most 60 characters'],
    ['an invisible character', { name: 'a\u200bb' }, 'Name contains characters that are not allowed'],
    ['no scope', { scopes: [] }, 'Choose at least one scope'],
    ['the scope of administrators', { scopes: ['admin'] }, 'Only administrators can give the scope admin'],
  ])('with %s is refused', async (_name, fields, message) => {
    const { client } = await board.createUser();
    const answer = await create(client, fields);
    expect([answer.statusCode, answer.json().message]).toEqual([400, message]);
  });

  test('ends in the future, within 366 days', async () => {
    const { client } = await board.createUser();
    for (const [days, message] of [
      [0, 'The end must lie in the future'],
      [-1, 'The end must lie in the future'],
      [366.1, 'The end must lie within 366 days'],
    ] as const) {
      expectAnswer(await create(client, { expiresAt: inDays(days) }), 400, {
        message,
        errors: [{ path: 'expiresAt', message }],
      });
    }
    await created(client, { expiresAt: inDays(366) });
  });

  test('is one of at most twenty of a user, even when created concurrently', async () => {
    const { client } = await board.createUser();
    const answers = await Promise.all(Array.from({ length: 25 }, () => create(client)));
    expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(20);
    expectAnswer(await create(client), 409, 'You have 20 API tokens already: delete one first');
    const [first] = await listed(client);
    await client.delete(`/api/tokens/${first?.id}`);
    await created(client);
  });

  test('writes without an origin, and without the cookie that comes along', async () => {
    const { client } = await board.createUser();
    const { token } = await created(client);
    const foreign = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } };
    expectAnswer(await client.post('/api/tokens', {}, foreign), 403, 'Cross-site requests are refused');
    expectAnswer(await bearer(token).post('/api/tokens', {}, foreign), 403, 'API tokens cannot do this');
    // A wrong token beside a valid cookie.
    const headers = { cookie: client.cookie };
    expectAnswer(await bearer('sb_wrong').get(ME, { headers }), 401, 'The API token is not valid');
    await bearer('sb_wrong').post('/api/auth/logout', undefined, { headers });
    expect((await client.get(ME)).statusCode).toBe(200);
  });

  test('does not come from other bearer tokens, which some proxies add', async () => {
    const { client } = await board.createUser();
    const headers = { authorization: 'Bearer eyJhbGciOi.of.a-proxy' };
    expect((await client.get(ME, { headers })).statusCode).toBe(200);
    expectAnswer(await board.anonymous.get(ME, { headers }), 401, 'Not signed in');
  });

  test('is only for the acting user that the request names', async () => {
    const [{ client, user }, other] = [await board.createUser(), await board.createUser()];
    const { token } = await created(client);
    const as = (id: string) => bearer(token).get(ME, { headers: { [ACTING_USER_HEADER]: id } });
    expect((await as(user.id)).statusCode).toBe(200);
    expect((await as(other.user.id)).statusCode).toBe(409);
  });

  test('passes where a session must be stepped up, but reveals no webhook key', async () => {
    const admin = await board.createUser({ isAdmin: true });
    await admin.client.post('/api/hooks', {});
    await admin.client.post('/api/auth/verify-password', { password: admin.password });
    const token = bearer((await created(admin.client, { scopes: ['read', 'admin'] })).token);
    expect((await admin.client.get('/api/hooks')).json()[0].hookKey).toHaveLength(43);
    expect((await token.get('/api/hooks')).json()[0].hookKey).toMatch(/^.{4}…$/);
    const answer = await token.post('/api/admin/create-client', {
      username: 'by.token@example.com',
      password: 'a password of a user',
      isAdmin: true,
    });
    expect(answer.statusCode, answer.body).toBe(201);
  });

  test('notes its last use at most once a minute', async () => {
    const { client } = await board.createUser();
    const { id, token } = await created(client);
    const lastUse = async () => (await listed(client)).find((one) => one.id === id)?.lastUsedAt;
    expect(await lastUse()).toBeNull();
    const first = clock.now().toISOString();
    await bearer(token).get(ME);
    clock.advance(59_000);
    await bearer(token).get(ME);
    expect(await lastUse()).toBe(first);
    clock.advance(1_000);
    await bearer(token).get(ME);
    expect(await lastUse()).toBe(clock.now().toISOString());
  });
});

describe('the end of a token', () => {
  const isValid = async (token: string) => {
    const answer = await bearer(token).get(ME);
    if (answer.statusCode === 200) return true;
    expectAnswer(answer, 401, 'The API token is not valid');
    return false;
  };

  test('comes when it expires', async () => {
    const { username, password, client } = await board.createUser();
    const { token } = await created(client, { expiresAt: inDays(2) });
    clock.advance(2 * DAY_MS - 1);
    expect(await isValid(token)).toBe(true);
    clock.advance(1);
    expect(await isValid(token)).toBe(false);
    const again = await board.signIn(username, password);
    expect(await listed(again)).toHaveLength(1);
  });

  const ways: [string, (user: TestUser) => Promise<unknown>][] = [
    [
      'its owner is deactivated, even when reactivated later',
      async ({ user }) => {
        const admin = await board.createUser({ isAdmin: true });
        for (const action of ['deactivate', 'reactivate']) {
          expect((await admin.client.patch(`/api/admin/users/${user.id}/${action}`)).statusCode).toBe(200);
        }
      },
    ],
    [
      'its owner changes the password',
      ({ client, password: currentPassword }) =>
        client.put('/api/user-settings/change-password', {
          currentPassword,
          newPassword: 'the next password',
        }),
    ],
    ['the password is reset', ({ username }) => resetPassword(board.deps, username)],
    [
      'the database says that its owner is inactive',
      ({ user }) => board.query('update users set is_active = false where id = $1', [user.id]),
    ],
  ];
  test.each(ways)('comes when %s', async (_name, end) => {
    const user = await board.createUser();
    const { token } = await created(user.client);
    expect(await isValid(token)).toBe(true);
    await end(user);
    expect(await isValid(token)).toBe(false);
  });

  test('comes for one with the scope admin when its owner is no administrator any more', async () => {
    const { client, user } = await board.createUser({ isAdmin: true });
    const [strong, weak] = [await created(client, { scopes: ['read', 'admin'] }), await created(client)];
    await board.query('update users set is_admin = false where id = $1', [user.id]);
    expect([await isValid(strong.token), await isValid(weak.token)]).toEqual([false, true]);
    expect((await bearer(weak.token).get('/api/admin/users')).statusCode).toBe(403);
  });
});

test('wrong tokens from one address are answered 429 after twenty a minute, and valid ones still work', async () => {
  const { client } = await board.createUser();
  const { token } = await created(client);
  const from = { headers: { 'x-forwarded-for': '198.51.100.7' } };
  for (let count = 1; count <= 20; count += 1) {
    expect((await bearer(`sb_${'A'.repeat(42)}${count % 10}`).get(ME, from)).statusCode).toBe(401);
  }
  const answer = await bearer('sb_wrong').get(ME, from);
  expectAnswer(answer, 429, 'Too many failed attempts. Try again later.');
  expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect((await bearer(token).get(ME, from)).statusCode).toBe(200);
});
