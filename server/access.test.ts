import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { inTurn } from '#test/app/in-turn.ts';
import { type TestClient, textOf } from '#test/app/test-client.ts';
import { startWorld, type World } from '#test/world.ts';
import { systemClock } from './platform/clock.ts';
import type { DeclaredRoute } from './platform/http/access.ts';
import { createHttpApp } from './platform/http/create-http-app.ts';
import { createLog } from './platform/log.ts';

/** Paths with these prefixes are for administrators only. */
const ADMIN_PREFIXES = [
  '/api/admin/',
  '/api/signals',
  '/api/signal/',
  '/api/price-logs',
  '/api/automation',
  '/api/trigger-automation',
  '/api/position-maker/',
  '/api/positions',
  '/api/individual-position-maker/',
  '/api/internal/',
  '/api/current-price/',
  '/api/environment/status',
  '/api/attention',
  '/api/strategies',
  '/api/audit',
  '/api/users',
  '/api/docs',
  '/api/first-run',
  '/api/overview',
  '/api/trading-states',
];

/** Users have limits of their own, and only administrators lift what those stop. */
const isOfLimits = (url: string) =>
  url.startsWith('/api/risk-limits') && url !== '/api/risk-limits/users/:id';
/** The same for exit plans. */
const isOfPlans = (url: string) => url.startsWith('/api/exit-plans') && url !== '/api/exit-plans/users/:id';

/** Below an administrators' path, with the caller's own data for ordinary users. */
const OWN_DATA = ['/api/users/:id/decisions'];

const PUBLIC_ROUTES = [
  '/healthz',
  '/readyz',
  '/assets/*',
  '/api/auth/login',
  '/api/auth/login/factor',
  '/api/auth/login/passkey',
  '/api/auth/login/passkey/options',
  '/api/auth/logout',
];

let board: World;
let callers: Record<'anonymous' | 'user' | 'admin' | 'inactive' | 'invented' | 'malformed', TestClient>;

beforeAll(async () => {
  board = await startWorld();
  const [user, inactive, admin] = [
    await board.createUser(),
    await board.createUser(),
    await board.createUser({ isAdmin: true }),
  ];
  // Not through the API, which would also end the session: the state of the user must suffice.
  await board.database.pool.query('update users set is_active = false where id = $1', [inactive.user.id]);
  callers = {
    anonymous: board.anonymous,
    user: user.client,
    admin: admin.client,
    inactive: inactive.client,
    invented: { ...board.anonymous, cookie: `sid=${'x'.repeat(43)}` },
    malformed: { ...board.anonymous, cookie: 'sid=guess' },
  };
});
afterAll(() => board.close());

const routesOf = (...levels: string[]) =>
  board.app.declaredRoutes.filter((route) => levels.includes(route.access));

/** HEAD runs what GET runs; it is asked only without a session, and where ordinary users are refused. */
const isCalled = ({ method }: DeclaredRoute) => method !== 'HEAD' || inject('everyCase');

async function call(route: DeclaredRoute, caller: TestClient): Promise<{ status: number; body: string }> {
  const url = route.url.replace(/:\w+/g, () => randomUUID()).replace('*', 'nothing');
  const hasBody = !['GET', 'HEAD', 'OPTIONS'].includes(route.method);
  const answer = await board.app.inject({
    method: route.method as 'GET',
    url,
    payloadAsStream: true,
    ...(caller.cookie === '' ? {} : { headers: { cookie: caller.cookie } }),
    ...(hasBody ? { payload: {} } : {}),
  });
  return { status: answer.statusCode, body: await textOf(answer) };
}

const bodyOf = (route: DeclaredRoute, message: string) =>
  route.method === 'HEAD' ? '' : JSON.stringify({ message });

describe('every route', () => {
  test('is declared, with routes of every kind', () => {
    expect(routesOf('user').length).toBeGreaterThan(8);
    expect(routesOf('admin').length).toBeGreaterThan(10);
    expect(routesOf('public').length).toBeGreaterThan(3);
  });

  // Requirements: accounts-roles-7, sign-in-and-sessions-19
  test('is for administrators exactly when it begins with an administrators’ path', () => {
    for (const { method, url, access } of board.app.declaredRoutes) {
      const isAdminPath =
        (ADMIN_PREFIXES.some((prefix) => url.startsWith(prefix)) && !OWN_DATA.includes(url)) ||
        isOfLimits(url) ||
        isOfPlans(url);
      expect(access === 'admin', `${method} ${url}`).toBe(isAdminPath);
    }
  });

  test('is open to anyone only when it has to be', () => {
    for (const { url } of routesOf('public')) expect(PUBLIC_ROUTES).toContain(url);
    for (const { url } of routesOf('hook')) expect(url).toMatch(/^\/hooks\//);
  });
});

describe('a route for signed-in users', () => {
  // Requirements: accounts-roles-1, accounts-fields-2
  test('answers 401 to callers without a live session of an active user', async () => {
    const routes = routesOf('user', 'admin');
    const withCookie = inTurn(routes.filter(isCalled), ['inactive', 'invented', 'malformed'] as const);
    for (const [route, role] of [...routes.map((one) => [one, 'anonymous'] as const), ...withCookie]) {
      const answer = await call(route, callers[role]);
      expect(answer, `${role}: ${route.method} ${route.url}`).toEqual({
        status: 401,
        body: bodyOf(route, 'Not signed in'),
      });
    }
  });

  // Requirements: accounts-roles-2
  test('lets ordinary users and administrators in', async () => {
    for (const [route, role] of inTurn(routesOf('user').filter(isCalled), ['user', 'admin'] as const)) {
      const answer = await call(route, callers[role]);
      const name = `${role}: ${route.method} ${route.url}`;
      expect([401, 403, 500, 503], name).not.toContain(answer.status);
    }
  });
});

describe('a route for administrators', () => {
  // Requirements: accounts-roles-3, trading-roles-1, trading-roles-4
  test('answers 403 to ordinary users', async () => {
    for (const route of routesOf('admin')) {
      const answer = await call(route, callers.user);
      expect(answer, `${route.method} ${route.url}`).toEqual({
        status: 403,
        body: bodyOf(route, 'Administrators only'),
      });
    }
  });

  // Requirements: accounts-roles-6
  test('lets administrators in', async () => {
    for (const route of routesOf('admin').filter(isCalled)) {
      const answer = await call(route, callers.admin);
      const name = `${route.method} ${route.url}`;
      expect([401, 500], name).not.toContain(answer.status);
      expect(answer.body, name).not.toContain('Administrators only');
    }
  });
});

describe('a route open to anyone', () => {
  test('asks for no session', async () => {
    for (const route of routesOf('public')) {
      const answer = await call(route, callers.anonymous);
      expect([401, 403, 500], `${route.method} ${route.url}`).not.toContain(answer.status);
    }
  });

  test('answers alike with and without a session when it takes deliveries', async () => {
    for (const route of routesOf('hook')) {
      const anonymous = await call(route, callers.anonymous);
      expect(await call(route, callers.admin)).toEqual(anonymous);
    }
  });
});

describe('the route of the metrics', () => {
  test('is only /metrics, and answers 401 to every role from another machine', async () => {
    expect(new Set(routesOf('metrics').map(({ url }) => url))).toEqual(new Set(['/metrics']));
    for (const { method, url } of routesOf('metrics')) {
      for (const caller of Object.values(callers)) {
        const answer = await board.app.inject({
          method: method as 'GET',
          url,
          remoteAddress: '192.0.2.1',
          ...(caller.cookie === '' ? {} : { headers: { cookie: caller.cookie } }),
        });
        expect(answer.statusCode, `${method} ${url}`).toBe(401);
      }
    }
  });
});

// Requirements: accounts-roles-4, users-4
test('lets no ordinary user change other users, or fields that only administrators may set', async () => {
  const [attacker, victim] = [await board.createUser(), await board.createUser()];
  const rows = async () => {
    const { rows: found } = await board.database.pool.query(
      `select users.*, user_settings.* from users join user_settings on user_id = id
       where id = any($1) order by id`,
      [[attacker.user.id, victim.user.id]],
    );
    return found;
  };
  const before = await rows();
  const payload = {
    id: victim.user.id,
    userId: victim.user.id,
    user_id: victim.user.id,
    username: 'other@example.com',
    isAdmin: true,
    isActive: false,
    isTestUser: false,
    activeTrading: true,
    activeTradingEnabled: true,
    passwordHash: 'x',
    createdAt: '2000-01-01T00:00:00Z',
    tradeOrderSet: 'A',
    tradingPausedUntil: '2030-01-01T00:00:00Z',
    oppositeSignal: 'skip',
    settings: { activeTrading: true },
  };
  for (const { method, url } of routesOf('user')) {
    if (['GET', 'HEAD'].includes(method)) continue;
    await attacker.client.send({
      method: method as 'POST',
      url: `${url.replace(/:\w+/g, victim.user.id)}?userId=${victim.user.id}`,
      payload,
    });
  }
  const after = await rows();
  expect(after.map(withoutTimes)).toEqual(before.map(withoutTimes));
});

const withoutTimes = ({ updated_at: _updatedAt, ...row }: Record<string, unknown>) => row;

// Requirements: accounts-roles-7
test('stops the start when a route does not declare its access', async () => {
  const app = await createHttpApp({
    config: { trustProxy: [], metricsToken: null, publicUrl: null, exchangeMode: 'paper' },
    untrustedProxies: { note() {} },
    log: createLog({ level: 'silent' }),
    clock: systemClock,
    db: board.database.db,
  });
  expect(() => app.get('/api/forgotten', async () => ({}))).toThrow(
    'GET /api/forgotten does not declare who may call it',
  );
  await app.close();
});
