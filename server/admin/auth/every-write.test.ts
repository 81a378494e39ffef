import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACTING_USER_HEADER, OTHER_USER } from '#contract/acting-user.ts';
import type { DeclaredRoute } from '#server/platform/http/access.ts';
import { firstCases } from '#test/app/in-turn.ts';
import { openRaw, type SendRaw } from '#test/app/raw-target.ts';
import type { TestClient } from '#test/app/test-client.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';

let board: World;
let sendRaw: SendRaw;

beforeAll(async () => {
  board = await startWorld();
  sendRaw = await openRaw(board.app);
});
afterAll(() => board.close());

/** Second URL of the documentation page; http-app.test.ts requests it with every role. */
const TWINS = ['GET /api/docs/'];

const nameOf = ({ method, url }: { method: string; url: string }) => `${method} ${url}`;
const writes = () => board.app.declaredRoutes.filter(({ method }) => !['GET', 'HEAD'].includes(method));

/** Parses the router's own printout of its routes, with four characters of indent per level. */
function routesOfRouter(): string[] {
  const path: string[] = [];
  return board.app
    .printRoutes()
    .split('\n')
    .filter((line) => line.includes('── '))
    .flatMap((line) => {
      const [indent = '', node = ''] = line.split(/[└├]── /);
      const [, part = '', methods = ''] = /^(.*?)(?: \(([A-Z, ]+)\))?$/.exec(node) ?? [];
      path.splice(indent.length / 4, Number.POSITIVE_INFINITY, part);
      const url = path.join('');
      return methods === '' ? [] : methods.split(', ').map((method) => nameOf({ method, url }));
    });
}

// Requirements: accounts-roles-7
test('the list for the generated tests contains every route of the router', () => {
  const declared = board.app.declaredRoutes.map(nameOf);
  expect(declared.length).toBeGreaterThan(50);
  expect(routesOfRouter().sort()).toEqual([...declared, ...TWINS].sort());
});

/** Spellings of a URL that the router treats as equal. */
const SPELLINGS: [name: string, spell: (url: string) => string][] = [
  ['as it is declared', (url) => url],
  ['percent-encoded', (url) => url.replace(/^\/(.)/, (_, first) => `/%${first.charCodeAt(0).toString(16)}`)],
  ['in absolute form', (url) => `http://board.example${url}`],
];

describe.each(firstCases(SPELLINGS, 2))('a cross-site write with the URL %s', (_name, spell) => {
  const send = (
    route: DeclaredRoute,
    { cookie }: TestClient,
    headers: { origin?: string; 'sec-fetch-site'?: string },
  ) => {
    const target = spell(route.url.replace(/:\w+/g, () => randomUUID()));
    return sendRaw({ method: route.method, target, headers: { cookie, ...headers }, body: {} });
  };

  // Requirements: sign-in-and-sessions-13
  test.each([{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])(
    'is refused by every route that uses the session cookie: %j',
    async (headers) => {
      const routes = writes().filter(({ access }) => access !== 'hook');
      expect(routes.length).toBeGreaterThan(12);
      for (const route of routes) {
        for (const caller of [board.admin, board.anonymous]) {
          const { status, body } = await send(route, caller, headers);
          expect(status, nameOf(route)).toBe(403);
          expect(body, nameOf(route)).toEqual({ message: 'Cross-site requests are refused' });
        }
      }
      expect((await board.admin.get('/api/auth/user')).statusCode).toBe(200);
    },
  );

  test('reaches webhooks, which use a key and no cookies', async () => {
    const routes = writes().filter(({ access }) => access === 'hook');
    expect(routes.length).toBeGreaterThan(0);
    for (const route of routes) {
      const { status } = await send(route, board.admin, { origin: 'https://evil.example' });
      expect(status, nameOf(route)).toBe(401);
    }
  });
});

describe('a screen opened for a user other than the session user', () => {
  const asks = (caller: TestClient, userId: string) => (route: DeclaredRoute) =>
    caller.send({
      method: route.method as 'POST',
      url: route.url.replace(/:\w+/g, () => randomUUID()),
      payload: {},
      headers: { [ACTING_USER_HEADER]: userId },
    });
  const routesOf = (...levels: string[]) =>
    board.app.declaredRoutes.filter(({ method, access }) => method !== 'HEAD' && levels.includes(access));

  // Requirements: sign-in-and-sessions-14
  test('is refused by every session route before anything is read or written', async () => {
    const [ann, bob] = [await board.createUser(), await board.createUser()];
    const routes = routesOf('user', 'admin');
    expect(routes.length).toBeGreaterThan(40);
    for (const route of routes) {
      for (const caller of [bob.client, board.admin]) {
        const answer = await asks(caller, ann.user.id)(route);
        expect(answer.statusCode, nameOf(route)).toBe(409);
        expect(answer.json(), nameOf(route)).toEqual({
          message: 'Another user has signed in to this browser. Nothing was changed.',
          failureType: OTHER_USER,
        });
      }
    }
  });

  test('may sign out and in, and gets 401 without a session', async () => {
    const [ann, bob] = [await board.createUser(), await board.createUser()];
    const headers = { [ACTING_USER_HEADER]: ann.user.id };
    expect((await board.anonymous.get('/api/user-settings', { headers })).statusCode).toBe(401);
    expect((await bob.client.post('/api/auth/logout', undefined, { headers })).statusCode).toBe(200);
    const { username, password } = bob;
    const signIn = await board.anonymous.post('/api/auth/login', { username, password }, { headers });
    expect(signIn.statusCode).toBe(200);
  });

  test('is accepted when it names the session’s user or, like scripts, no user', async () => {
    const { client, user } = await board.createUser();
    const own = { [ACTING_USER_HEADER]: user.id };
    for (const headers of [own, {}]) {
      expect((await client.get('/api/user-settings', { headers })).statusCode).toBe(200);
      const write = await client.put('/api/user-settings', { signalProcessor: 'Any' }, { headers });
      expect(write.statusCode).toBe(200);
    }
  });
});

describe('fields that a caller must not set', () => {
  const SMUGGLED = {
    id: '6e4e4a4e-1c1f-4f0e-9d5a-3b1c2d4e5f60',
    isAdmin: true,
    is_admin: true,
    isActive: false,
    role: 'admin',
    user: { isAdmin: true },
    passwordHash: 'x',
    usernameKey: 'other@example.com',
    activeTrading: true,
    activeTradingEnabled: true,
    createdAt: '2000-01-01T00:00:00Z',
    expiresAt: '2999-01-01T00:00:00Z',
    keyRevealedUntil: '2999-01-01T00:00:00Z',
  };

  /** A user's stored fields, without times and without fields that the accepted call may change. */
  async function stored({ user }: TestUser): Promise<Record<string, unknown>> {
    const { rows } = await board.database.pool.query(
      `select users.id, username, username_key, is_admin, is_active, is_test_user, created_at, active_trading,
        exists(select from sessions where sessions.user_id = users.id
          and (key_revealed_until > now() + interval '1 hour' or expires_at > now() + interval '8 days')) as outlives
       from users join user_settings on user_settings.user_id = users.id where users.id = $1`,
      [user.id],
    );
    return rows[0];
  }

  // Requirements: sign-in-and-sessions-20
  test.each<[string, (user: TestUser) => ReturnType<TestClient['post']>]>([
    [
      'a sign-in',
      ({ username, password }) =>
        board.anonymous.post('/api/auth/login', { ...SMUGGLED, username, password }),
    ],
    [
      'a password check',
      ({ client, password }) => client.post('/api/auth/verify-password', { ...SMUGGLED, password }),
    ],
    ['the own settings', ({ client }) => client.put('/api/user-settings', SMUGGLED)],
    [
      'the settings of a user',
      ({ user }) => board.admin.put(`/api/admin/user-settings/${user.id}`, SMUGGLED),
    ],
    [
      'a change of the password',
      ({ client, password }) =>
        client.put('/api/user-settings/change-password', {
          ...SMUGGLED,
          currentPassword: password,
          newPassword: 'the next password',
        }),
    ],
    ['a new webhook', ({ client }) => client.post('/api/hooks', SMUGGLED)],
    [
      'the status of a user',
      ({ user }) => board.admin.put(`/api/admin/user/${user.id}/status`, { ...SMUGGLED, isActive: true }),
    ],
    [
      'active trading',
      ({ user }) =>
        board.admin.put(`/api/admin/user/${user.id}/active-trading`, { ...SMUGGLED, activeTrading: false }),
    ],
    ['a sign-out', ({ client }) => client.post('/api/auth/logout', SMUGGLED)],
  ])('are ignored by %s, which succeeds without them', async (_name, call) => {
    const user = await board.createUser();
    const before = await stored(user);
    const answer = await call(user);
    expect(answer.statusCode).toBeGreaterThanOrEqual(200);
    expect(answer.statusCode).toBeLessThan(300);
    expect(await stored(user)).toEqual(before);
    expect(answer.json().user?.isAdmin ?? false).toBe(false);
  });
});
