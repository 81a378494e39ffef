import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { STEP_UP_REQUIRED } from '#contract/factors.ts';
import { type Answer, expectAnswer, type TestClient, UNKNOWN_ID } from '#test/app/test-client.ts';
import { ADMIN_PASSWORD, ADMIN_USERNAME, startWorld, type TestUser, type World } from '#test/world.ts';

let board: World;
/** An administrator's cookie without a confirmed identity: what a thief holds. */
let thief: TestClient;
let owner: TestUser;
let admin: { id: string; hookId: string; ownHookId: string };
let stopId: string;

beforeAll(async () => {
  board = await startWorld({ config: { appEnv: 'production', exchangeMode: 'demo' } });
  owner = await board.createUser();
  const { id } = (await board.admin.get('/api/auth/user')).json().user;
  const hookId = (await owner.client.post('/api/hooks', {})).json().id;
  const ownHookId = (await board.admin.post('/api/hooks', {})).json().id;
  admin = { id, hookId, ownHookId };
  await board.admin.put(`/api/admin/hooks/${hookId}`, { suspended: true });
  await board.admin.put(`/api/admin/user-settings/${owner.user.id}`, {
    investmentPortion: '0.1',
    maximumRiskPerTrade: '0.01',
    tradingPausedUntil: '2999-01-01T00:00:00Z',
  });
  for (const path of ['', '/strategies/Tesla', `/users/${owner.user.id}`]) {
    const limited = await board.admin.put(`/api/risk-limits${path}`, { maxDailyLoss: '100' });
    expect(limited.statusCode, limited.body).toBe(200);
  }
  const stopped = await board.admin.post('/api/trading-stops', { scope: { kind: 'all' } });
  stopId = stopped.json<{ id: string }>().id;
  thief = await board.signIn(ADMIN_USERNAME, ADMIN_PASSWORD, { stepUp: false });
});
afterAll(() => board.close());

const PASSKEY_RESPONSE = {
  id: 'AAAA',
  rawId: 'AAAA',
  type: 'public-key',
  response: { clientDataJSON: 'AAAA' },
};
const KEYS = { exchangePlatform: 'Bybit', apiKey: 'key-of-a-thief', apiSecret: 'secret-of-a-thief' };

const CHANNEL = { kind: 'webhook', name: 'Thief', config: { url: 'https://thief.example.com' } };

/** What a thief would send to each route: as harmful as it takes, and valid. */
const ATTACKS: Record<string, () => [url: string, body?: object][]> = {
  'POST /api/admin/create-client': () => [
    [
      '/api/admin/create-client',
      { username: 'thief@example.com', password: 'long enough to pass', isAdmin: true },
    ],
    ['/api/admin/create-client', { username: 'thief@example.com', password: 'long enough to pass' }],
  ],
  'PUT /api/admin/user/:userId/active-trading': () => [
    [`/api/admin/user/${owner.user.id}/active-trading`, { activeTrading: true }],
    [`/api/admin/user/${admin.id}/active-trading`, { activeTrading: true }],
  ],
  'PUT /api/admin/user/:userId/status': () => [
    [`/api/admin/user/${owner.user.id}/status`, { isActive: true }],
  ],
  'PATCH /api/admin/users/:id/reactivate': () => [[`/api/admin/users/${owner.user.id}/reactivate`]],
  'PUT /api/user-settings': () => [
    ['/api/user-settings', { investmentPortion: '0.33' }],
    ['/api/user-settings', { maximumRiskPerTrade: '0.15' }],
    ['/api/user-settings', { exchangePlatform: 'Bybit' }],
  ],
  'PUT /api/admin/user-settings/:userId': () =>
    [
      { investmentPortion: '0.33' },
      { investmentPortion: null },
      { maximumRiskPerTrade: '0.15' },
      { exchangePlatform: 'Bybit' },
      { isTestUser: false },
      { tradingPausedUntil: null },
      { tradingPausedUntil: '2998-01-01T00:00:00Z' },
    ].map((body) => [`/api/admin/user-settings/${owner.user.id}`, body]),
  'PUT /api/user-settings/exchange-credentials': () => [['/api/user-settings/exchange-credentials', KEYS]],
  'DELETE /api/user-settings/exchange-credentials': () => [['/api/user-settings/exchange-credentials']],
  'PUT /api/admin/user-settings/:userId/exchange-credentials': () => [
    [`/api/admin/user-settings/${owner.user.id}/exchange-credentials`, KEYS],
  ],
  'DELETE /api/admin/user-settings/:userId/exchange-credentials': () => [
    [`/api/admin/user-settings/${owner.user.id}/exchange-credentials`],
  ],
  'PUT /api/admin/user/:userId/statement-fee': () => [
    [`/api/admin/user/${owner.user.id}/statement-fee`, { percent: '100' }],
  ],
  'POST /api/hooks': () => [['/api/hooks', {}]],
  'PUT /api/admin/hooks/:id': () => [[`/api/admin/hooks/${admin.hookId}`, { suspended: false }]],
  'POST /api/hooks/:id/test-deliveries': () => [
    [`/api/hooks/${admin.ownHookId}/test-deliveries`, { kind: 'signal', payload: { token: 'BTC' } }],
  ],
  'POST /api/admin/trading-halts/:id/resume': () => [[`/api/admin/trading-halts/${UNKNOWN_ID}/resume`]],
  'POST /api/trigger-automation': () => [['/api/trigger-automation', { signalId: UNKNOWN_ID }]],
  'POST /api/automation/trigger/:signalId': () => [[`/api/automation/trigger/${UNKNOWN_ID}`]],
  'POST /api/position-maker/submit-order': () => [
    ['/api/position-maker/submit-order', { positionGeneratorLogId: UNKNOWN_ID }],
  ],
  'POST /api/individual-position-maker/process': () => [
    ['/api/individual-position-maker/process', { positionGeneratorLogId: UNKNOWN_ID }],
  ],
  'POST /api/position-maker/orders/:tradeId/write-off': () => [
    [`/api/position-maker/orders/${UNKNOWN_ID}/write-off`],
  ],
  'POST /api/positions/write-off': () => [['/api/positions/write-off', { tradeId: UNKNOWN_ID }]],
  'POST /api/auth/totp': () => [['/api/auth/totp']],
  'POST /api/auth/totp/confirm': () => [['/api/auth/totp/confirm', { code: '123456' }]],
  'DELETE /api/auth/totp': () => [['/api/auth/totp']],
  'POST /api/auth/passkeys/options': () => [['/api/auth/passkeys/options']],
  'POST /api/auth/passkeys': () => [['/api/auth/passkeys', { name: 'Thief', response: PASSKEY_RESPONSE }]],
  'DELETE /api/auth/passkeys/:id': () => [[`/api/auth/passkeys/${UNKNOWN_ID}`]],
  'DELETE /api/admin/user/:userId/factors': () => [[`/api/admin/user/${owner.user.id}/factors`]],
  'POST /api/notification-channels': () => [['/api/notification-channels', CHANNEL]],
  'PUT /api/notification-channels/:id': () => [[`/api/notification-channels/${UNKNOWN_ID}`, CHANNEL]],
  'DELETE /api/notification-channels/:id': () => [[`/api/notification-channels/${UNKNOWN_ID}`]],
  'PUT /api/feeds/:id': () => [[`/api/feeds/${UNKNOWN_ID}`, { muted: true }]],
  'DELETE /api/trading-stops/:id': () => [[`/api/trading-stops/${stopId}`]],
  'PUT /api/risk-limits': () => [['/api/risk-limits', {}]],
  'PUT /api/risk-limits/strategies/:processor': () => [['/api/risk-limits/strategies/Tesla', {}]],
  'PUT /api/risk-limits/users/:id': () => [[`/api/risk-limits/users/${owner.user.id}`, {}]],
  'POST /api/risk-limits/reset': () => [['/api/risk-limits/reset', {}]],
  'POST /api/risk-limits/strategies/:processor/reset': () => [
    ['/api/risk-limits/strategies/Tesla/reset', {}],
  ],
  'POST /api/risk-limits/users/:id/reset': () => [[`/api/risk-limits/users/${owner.user.id}/reset`, {}]],
  'PUT /api/strategies/:processor': () => [
    ['/api/strategies/Tesla', { maxSignalAgeSeconds: 600 }],
    ['/api/strategies/Tesla', { schedule: null }],
  ],
  'PUT /api/exit-plans/strategies/:processor': () => [
    ['/api/exit-plans/strategies/Tesla', { maxHoldingMinutes: 1 }],
  ],
  'DELETE /api/exit-plans/strategies/:processor': () => [['/api/exit-plans/strategies/Tesla']],
  'PUT /api/exit-plans/users/:id': () => [
    [`/api/exit-plans/users/${owner.user.id}`, { maxHoldingMinutes: 1 }],
  ],
  'DELETE /api/exit-plans/users/:id': () => [[`/api/exit-plans/users/${owner.user.id}`]],
  'POST /api/exit-plans/apply': () => [
    ['/api/exit-plans/apply', { scope: { kind: 'strategy', value: 'Tesla' } }],
    ['/api/exit-plans/apply', { scope: { kind: 'user', value: owner.user.id } }],
  ],
  'POST /api/positions/close-all': () => [
    ['/api/positions/close-all', { scope: { kind: 'all' }, confirm: 'CLOSE' }],
  ],
  'POST /api/first-run/demo-signal': () => [['/api/first-run/demo-signal', {}]],
  'POST /api/tokens': () => [
    ['/api/tokens', { name: 'Thief', scopes: ['read', 'trade', 'admin'], expiresAt: null }],
  ],
};

/** Routes whose body has the password: the cookie alone does not answer them. */
const WRONG_PASSWORD = { password: 'not the password' };
const WITH_PASSWORD: Record<string, () => [url: string, body: object]> = {
  'POST /api/auth/verify-password': () => ['/api/auth/verify-password', WRONG_PASSWORD],
  'POST /api/auth/step-up': () => ['/api/auth/step-up', WRONG_PASSWORD],
  'PUT /api/user-settings/change-password': () => [
    '/api/user-settings/change-password',
    { currentPassword: 'not the password', newPassword: 'a password of the thief' },
  ],
  'PUT /api/hooks/:id': () => [`/api/hooks/${admin.ownHookId}`, { generateNewKey: true, ...WRONG_PASSWORD }],
  'DELETE /api/hooks/:id': () => [`/api/hooks/${admin.ownHookId}`, WRONG_PASSWORD],
  'PUT /api/admin/hooks/:id': () => [
    `/api/admin/hooks/${admin.hookId}`,
    { generateNewKey: true, ...WRONG_PASSWORD },
  ],
  'DELETE /api/admin/hooks/:id': () => [`/api/admin/hooks/${admin.hookId}`, WRONG_PASSWORD],
};

/** What a cookie alone may do, and why that is no harm. */
const ALLOWED: Record<string, string> = {
  'POST /api/auth/login': 'has the password',
  'POST /api/auth/login/factor': 'has the other half of a sign-in',
  'POST /api/auth/login/passkey': 'has a passkey',
  'POST /api/auth/login/passkey/options': 'begins a sign-in',
  'POST /api/auth/step-up/options': 'begins a step-up',
  'POST /api/auth/logout': 'ends the session',
  'DELETE /api/auth/sessions': 'ends other sessions',
  'DELETE /api/auth/sessions/:id': 'ends a session',
  'DELETE /api/tokens/:id': 'ends a token',
  'PATCH /api/admin/users/:id/deactivate': 'stops trading',
  'POST /api/positions/close': 'closes a position',
  'POST /api/trading-stops': 'stops new entries',
  'DELETE /api/positions/close-all/:id': 'ends the tries of a closing, and opens nothing',
  'PUT /api/positions/protection': 'moves a stop towards less risk',
  'POST /api/position-maker/restart': 'continues the same work',
  'POST /api/user-settings/exchange-credentials/test': 'asks the exchange about the stored key',
  'POST /api/admin/user-settings/:userId/exchange-credentials/test': 'asks the exchange about the stored key',
  'POST /api/notification-channels/:id/test': 'sends a test message to whom it was set up for',
  'DELETE /api/notification-channels/:id/mute': 'sends notices again to whom they were set up for',
  'POST /api/notifications/read': 'marks own notifications as read',
  'POST /api/admin/statement-archives': 'puts statements together that an administrator may read',
  'POST /api/position-maker/prepare': 'computes',
  'POST /api/internal/position-generator/generate': 'computes',
  'POST /api/internal/position-generator/preview': 'computes',
  'POST /api/signal/check-eligibility': 'computes',
  'POST /api/signals/:id/verify': 'computes',
};

const methodOf = (route: string) => route.split(' ')[0] as 'POST';
const send = (client: TestClient, route: string, [url, payload]: [string, object?]): Promise<Answer> =>
  client.send({ method: methodOf(route), url, ...(payload === undefined ? {} : { payload }) });

/** Everything that a thief is after. */
const treasures = async () =>
  (
    await board.query(
      `select json_build_object(
        'users', (select json_agg(row(id, is_admin, is_active, is_test_user, password_hash) order by id) from users),
        'settings', (select json_agg(s order by user_id) from user_settings s),
        'keys', (select json_agg(c) from exchange_credentials c),
        'exits', (select json_agg(e) from exit_plans e),
        'webhooks', (select json_agg(row(id, key_sealed, suspended_at) order by id) from hooks),
        'signals', (select count(*) from signals),
        'trades', (select count(*) from trades),
        'channels', (select json_agg(n) from notification_channels n),
        'limits', (select json_agg(l) from risk_limits l),
        'stops', (select json_agg(s) from trading_stops s),
        'factors', (select json_agg(f) from totp_factors f),
        'passkeys', (select json_agg(p) from passkeys p),
        'tokens', (select json_agg(t) from api_tokens t)) as stolen`,
    )
  )[0].stolen;

describe("a stolen administrator's cookie where money is traded", () => {
  test('every write route has an attack here, asks for the password, or is named as harmless', () => {
    const known = new Set([...Object.keys(ATTACKS), ...Object.keys(WITH_PASSWORD), ...Object.keys(ALLOWED)]);
    const routes = board.app.declaredRoutes
      .filter(({ write, access }) => write !== null && access !== 'hook')
      .map(({ method, url }) => `${method} ${url}`);
    expect(routes.filter((route) => !known.has(route))).toEqual([]);
    expect([...known].filter((route) => !routes.includes(route))).toEqual([]);
  });

  test('is asked to confirm by every attack, and changes nothing', async () => {
    const before = await treasures();
    for (const [route, attacks] of Object.entries(ATTACKS)) {
      for (const attack of attacks()) {
        const answer = await send(thief, route, attack);
        expect([answer.statusCode, answer.json()], `${route} ${JSON.stringify(attack)}`).toEqual([
          403,
          { message: 'Please confirm with your password', failureType: STEP_UP_REQUIRED },
        ]);
      }
    }
    expect(await treasures()).toEqual(before);
  });

  test('is refused where the body needs the password, and changes nothing', async () => {
    const before = await treasures();
    for (const [route, attack] of Object.entries(WITH_PASSWORD)) {
      expectAnswer(await send(thief, route, attack()), 403, 'Invalid password');
    }
    expect(await treasures()).toEqual(before);
  });

  test('still switches trading off, tightens settings, suspends a webhook and closes positions', async () => {
    const id = owner.user.id;
    const safe: [string, [string, object?]][] = [
      ['PUT', [`/api/admin/user/${id}/active-trading`, { activeTrading: false }]],
      ['PUT', [`/api/admin/user/${admin.id}/active-trading`, { activeTrading: false }]],
      [
        'PUT',
        [`/api/admin/user-settings/${id}`, { investmentPortion: '0.05', maximumRiskPerTrade: '0.005' }],
      ],
      ['PUT', [`/api/admin/user-settings/${id}`, { tradingPausedUntil: '2999-06-01T00:00:00Z' }]],
      ['PUT', [`/api/admin/hooks/${admin.hookId}`, { suspended: true }]],
      ['PATCH', [`/api/admin/users/${id}/deactivate`]],
    ];
    for (const [method, call] of safe) {
      expect((await send(thief, method, call)).statusCode, call[0]).toBe(200);
    }
    const close = await thief.post('/api/positions/close', { userId: id, token: 'BTC' });
    expect(close.json().failureType).toBeUndefined();
    expect(close.json().message).not.toBe('Please confirm with your password');
  });
});

describe('a step-up', () => {
  const create = (client: TestClient, username: string) =>
    client.post('/api/admin/create-client', { username, password: 'long enough to pass', isAdmin: true });

  test('opens five minutes for its session only', async () => {
    const other = await board.signIn(ADMIN_USERNAME, ADMIN_PASSWORD, { stepUp: false });
    const client = await board.signIn(ADMIN_USERNAME, ADMIN_PASSWORD, { stepUp: false });
    const asked = Date.now();
    const answer = await client.post('/api/auth/step-up', { password: ADMIN_PASSWORD });
    expect(answer.statusCode, answer.body).toBe(200);
    const until = Date.parse(answer.json().until);
    expect(until).toBeGreaterThanOrEqual(asked + 5 * 60_000);
    expect(until).toBeLessThanOrEqual(Date.now() + 5 * 60_000);
    expect((await create(client, 'second@example.com')).statusCode).toBe(201);
    expect((await create(other, 'third@example.com')).statusCode).toBe(403);
    await board.query(
      "update sessions set step_up_until = now() - interval '1 second' where step_up_until < '9000-01-01'",
    );
    expect((await create(client, 'third@example.com')).statusCode).toBe(403);
  });

  test('is also opened by the password dialog of the webhook', async () => {
    const client = await board.signIn(ADMIN_USERNAME, ADMIN_PASSWORD, { stepUp: false });
    expect((await create(client, 'fourth@example.com')).statusCode).toBe(403);
    expect((await client.post('/api/auth/verify-password', { password: ADMIN_PASSWORD })).statusCode).toBe(
      200,
    );
    expect((await create(client, 'fourth@example.com')).statusCode).toBe(201);
  });
});

// So that a first run stays short.
test('in paper mode, ordinary users, settings, trading and a webhook need no step-up, administrators do', async () => {
  const paper = await startWorld();
  try {
    const client = await paper.signIn(ADMIN_USERNAME, ADMIN_PASSWORD, { stepUp: false });
    const body = { username: 'first@example.com', password: 'long enough to pass' };
    const created = await client.post('/api/admin/create-client', body);
    expect(created.statusCode).toBe(201);
    const { id } = created.json().user;
    const saved = await client.put(`/api/admin/user-settings/${id}`, { investmentPortion: '0.33' });
    expect(saved.statusCode).toBe(200);
    const switched = await client.put(`/api/admin/user/${id}/active-trading`, { activeTrading: true });
    expect(switched.statusCode).toBe(200);
    expect((await client.post('/api/hooks', {})).statusCode).toBe(201);
    const administrator = await client.post('/api/admin/create-client', { ...body, isAdmin: true });
    expectAnswer(administrator, 403, {
      message: 'Please confirm with your password',
      failureType: STEP_UP_REQUIRED,
    });
  } finally {
    await paper.close();
  }
});
