import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { AUDIT_ACTIONS, type AuditAction } from '#contract/audit.ts';
import { muteUntil } from '#server/alerts/chat/chats.store.ts';
import { watchFeeds } from '#server/alerts/watch-feeds.ts';
import { codeOf, halfSignIn } from '#test/app/second-factors.ts';
import { softwarePasskey } from '#test/app/software-passkey.ts';
import { type Answer, signIn, type TestClient, testClient } from '#test/app/test-client.ts';
import { createSender, SIGNAL, type TestSender } from '#test/app/test-sender.ts';
import { ADMIN_PASSWORD, ADMIN_USERNAME, startWorld, type TestUser, type World } from '#test/world.ts';

/** Written by commands, by the start, and by the program for a position or a key; their own tests find them there. */
const NOT_BY_A_ROUTE: AuditAction[] = [
  'password reset',
  'exchange keys refused by the exchange',
  'position protection moved',
  'trading halted',
  'risk limit reached',
  'command from a chat',
  'canary failed',
  'program started',
  'backup written',
  'backup restored',
  'secret key rotated',
  'secret key replaced',
  'audit key exported',
];

const KEYS = {
  exchangePlatform: 'Bitget',
  apiKey: 'the-api-key',
  apiSecret: 'the-secret',
  passphrase: 'the-passphrase',
};
const PASSWORD = 'a password of a user';
const NEW_PASSWORD = 'another password of a user';

let board: World;
let sender: TestSender;
let user: TestUser;
/** Secrets that the program has made. */
const secrets: string[] = [];
/** Actions that each route has left an entry of. */
const seen = new Map<string, Set<AuditAction>>();

beforeAll(async () => {
  board = await startWorld({
    engine: true,
    config: { verifyFirstMs: 100, verifySecondMs: 100, cancelDelayMs: 50 },
  });
  sender = await createSender({ app: board.app, client: board.admin });
  user = await board.createUser({ username: 'ann@example.com', password: PASSWORD });
});
afterAll(() => board.close());

interface Entry {
  actor_kind: string;
  actor_name: string;
  address: string | null;
  action: AuditAction;
  subject_kind: string | null;
  request_id: string | null;
}

/** Calls a route and finds exactly these entries of its caller afterwards. */
async function leaves(
  actions: AuditAction[],
  route: string,
  {
    by = board.admin,
    who = ADMIN_USERNAME,
    url = route.replace(/^\w+ /, ''),
    body,
    status = 200,
  }: {
    by?: TestClient;
    who?: string;
    url?: string;
    body?: object;
    status?: number;
  } = {},
): Promise<Answer> {
  const [{ last }] = await board.query("select coalesce(max(id::text), '') as last from audit_log");
  const method = route.split(' ')[0] as 'POST';
  const answer = await by.send({ method, url, ...(body === undefined ? {} : { payload: body }) });
  expect(answer.statusCode, `${route}: ${answer.body}`).toBe(status);
  const entries: Entry[] = await board.query(
    `select actor_kind, actor_name, address, action, subject_kind, request_id from audit_log
     where id::text > $1 and actor_kind <> 'program' order by id`,
    [last],
  );
  expect(
    entries.map(({ action }) => action),
    route,
  ).toEqual(actions);
  for (const entry of entries) {
    expect(entry, route).toMatchObject({
      actor_kind: 'user',
      actor_name: who,
      address: '127.0.0.1',
      request_id: expect.any(String),
    });
  }
  const known = seen.get(route) ?? new Set();
  for (const action of actions) known.add(action);
  seen.set(route, known);
  return answer;
}

async function until<Value>(what: string, find: () => Promise<Value | undefined>): Promise<Value> {
  return await vi.waitFor(async () => (await find()) ?? expect.fail(`${what} did not come`), 30_000);
}

/** The id of a recorded signal whose automatic workflow has been recorded too. */
async function signal(token: string): Promise<string> {
  const time = new Date().toISOString();
  const { id } = (await sender.signal({ symbol: `${token}USDT`, price: '3000', time })).json<{
    id: string;
  }>();
  await workflowOf(id, 'aborted');
  return id;
}

const workflowOf = (signalId: string, status: string) =>
  until(`a workflow that is ${status}`, async () => {
    const { workflowStatus } = (await board.admin.get(`/api/signals/${signalId}`)).json();
    return workflowStatus === status || undefined;
  });

/** A filled order by hand; returns its trade. */
async function orderByHand(route: string, token: string): Promise<string> {
  const signalId = await signal(token);
  const { positionGeneratorLogId } = (
    await board.admin.post('/api/internal/position-generator/generate', { signalId, userId: user.user.id })
  ).json();
  const answer = await leaves(['order submitted'], route, { body: { positionGeneratorLogId } });
  return answer.json<{ tradeId: string }>().tradeId;
}

test('signing in and out, sessions, second factors and tokens', async () => {
  const { username } = user;
  const anyone = testClient(board.app);
  const login = 'POST /api/auth/login';
  const credentials = { username, password: PASSWORD };
  await leaves(['signed in'], login, { by: anyone, who: username, body: credentials });
  const wrong = { username, password: 'not the password' };
  await leaves(['sign-in refused'], login, { by: anyone, who: 'not signed in', body: wrong, status: 401 });

  const by = await signIn(board.app, username, PASSWORD);
  const own = { by, who: username };
  await leaves(['identity confirmed'], 'POST /api/auth/verify-password', {
    ...own,
    body: { password: PASSWORD },
  });
  await leaves(['identity confirmed'], 'POST /api/auth/step-up', { ...own, body: { password: PASSWORD } });

  const { secret } = (await by.post('/api/auth/totp')).json<{ secret: string }>();
  secrets.push(secret);
  const code = (steps: number) => codeOf(secret, Date.now() + steps * 30_000);
  const confirmed = await leaves(['authenticator app added'], 'POST /api/auth/totp/confirm', {
    ...own,
    body: { code: code(0) },
  });
  const { recoveryCodes } = confirmed.json<{ recoveryCodes: string[] }>();
  secrets.push(...recoveryCodes);
  const factor = 'POST /api/auth/login/factor';
  let half = await halfSignIn(board, credentials);
  await leaves(['sign-in refused'], factor, {
    by: half,
    who: 'not signed in',
    body: { code: '000000' },
    status: 403,
  });
  await leaves(['recovery codes used', 'signed in'], factor, {
    by: half,
    who: username,
    body: { code: recoveryCodes[0] },
  });
  await leaves(['recovery codes used', 'identity confirmed'], 'POST /api/auth/step-up', {
    ...own,
    body: { code: recoveryCodes[1] },
  });

  const passkey = softwarePasskey();
  const response = passkey.create((await by.post('/api/auth/passkeys/options')).json());
  const added = await leaves(['passkey added'], 'POST /api/auth/passkeys', {
    ...own,
    body: { name: 'Phone', response },
  });
  half = await halfSignIn(board, credentials);
  const options = (await half.post('/api/auth/login/passkey/options')).json();
  const withPasskey = 'POST /api/auth/login/passkey';
  const assertion = passkey.use(options);
  await leaves(['signed in'], withPasskey, { by: half, who: username, body: { assertion } });
  await leaves(['sign-in refused'], withPasskey, {
    by: half,
    who: 'not signed in',
    body: { assertion },
    status: 403,
  });
  const passkeyUrl = `/api/auth/passkeys/${added.json().passkey.id}`;
  await leaves(['passkey removed'], 'DELETE /api/auth/passkeys/:id', { ...own, url: passkeyUrl });
  await leaves(['authenticator app removed'], 'DELETE /api/auth/totp', own);
  await leaves(['factors reset'], 'DELETE /api/admin/user/:userId/factors', {
    url: `/api/admin/user/${user.user.id}/factors`,
  });

  // The reset has ended all sessions.
  const again = { by: await signIn(board.app, username, PASSWORD), who: username };
  const token = { name: 'Robot', scopes: ['read'], expiresAt: null };
  const created = await leaves(['API token created'], 'POST /api/tokens', {
    ...again,
    body: token,
    status: 201,
  });
  secrets.push(created.json<{ token: string }>().token);
  await leaves(['API token deleted'], 'DELETE /api/tokens/:id', {
    ...again,
    url: `/api/tokens/${created.json().id}`,
  });
  await signIn(board.app, username, PASSWORD);
  const sessions = await again.by.get('/api/auth/sessions');
  const other = sessions
    .json<{ sessions: { id: string; current: boolean }[] }>()
    .sessions.find((one) => !one.current);
  await leaves(['session ended'], 'DELETE /api/auth/sessions/:id', {
    ...again,
    url: `/api/auth/sessions/${other?.id}`,
  });
  await signIn(board.app, username, PASSWORD);
  await leaves(['other sessions ended'], 'DELETE /api/auth/sessions', again);
  await leaves(['password changed'], 'PUT /api/user-settings/change-password', {
    ...again,
    body: { currentPassword: PASSWORD, newPassword: NEW_PASSWORD },
  });
  const last = { by: await signIn(board.app, username, NEW_PASSWORD), who: username };
  await leaves(['signed out'], 'POST /api/auth/logout', last);
});

test('users, settings, keys and webhooks', async () => {
  const { id } = user.user;
  const own = { by: await signIn(board.app, user.username, NEW_PASSWORD), who: user.username };
  const created = await leaves(['user created'], 'POST /api/admin/create-client', {
    body: { username: 'bob@example.com', password: PASSWORD },
    status: 201,
  });
  const bob = created.json().user.id;
  for (const isActive of [false, true]) {
    const action = isActive ? 'user reactivated' : 'user deactivated';
    await leaves([action], 'PUT /api/admin/user/:userId/status', {
      url: `/api/admin/user/${bob}/status`,
      body: { isActive },
    });
    const verb = isActive ? 'reactivate' : 'deactivate';
    await leaves([action], `PATCH /api/admin/users/:id/${verb}`, { url: `/api/admin/users/${bob}/${verb}` });
  }
  const settings = { positionSizingMethod: 'Risk Management' };
  await leaves(['settings changed'], 'PUT /api/user-settings', { ...own, body: settings });
  await leaves(['settings changed'], 'PUT /api/admin/user-settings/:userId', {
    url: `/api/admin/user-settings/${bob}`,
    body: settings,
  });
  for (const activeTrading of [true, false]) {
    await leaves(
      [`active trading switched ${activeTrading ? 'on' : 'off'}`],
      'PUT /api/admin/user/:userId/active-trading',
      { url: `/api/admin/user/${id}/active-trading`, body: { activeTrading } },
    );
  }

  await leaves(['settings changed'], 'PUT /api/admin/user/:userId/statement-fee', {
    url: `/api/admin/user/${id}/statement-fee`,
    body: { percent: '30' },
  });
  await leaves(['statements of all users requested'], 'POST /api/admin/statement-archives', {
    body: { month: '2026-10' },
    status: 202,
  });

  const keys = '/exchange-credentials';
  for (const [base, options] of [
    ['/api/user-settings', own],
    ['/api/admin/user-settings/:userId', { url: `/api/admin/user-settings/${bob}` }],
  ] as const) {
    const at = (part: string) => ({
      ...options,
      ...('url' in options ? { url: `${options.url}${part}` } : {}),
    });
    await leaves(['exchange keys stored'], `PUT ${base}${keys}`, { ...at(keys), body: KEYS });
    await leaves(['exchange keys tested'], `POST ${base}${keys}/test`, at(`${keys}/test`));
    await leaves(['exchange keys deleted'], `DELETE ${base}${keys}`, at(keys));
  }

  const hook = await leaves(['webhook created'], 'POST /api/hooks', { ...own, body: {}, status: 201 });
  const { id: hookId, hookKey } = hook.json<{ id: string; hookKey: string }>();
  secrets.push(hookKey);
  await leaves(['test delivery sent'], 'POST /api/hooks/:id/test-deliveries', {
    ...own,
    url: `/api/hooks/${hookId}/test-deliveries`,
    body: { kind: 'signal', payload: SIGNAL },
  });
  // One entry for the candle, one for the signal.
  await leaves(['test delivery sent', 'test delivery sent'], 'POST /api/first-run/demo-signal', { body: {} });
  const renewal = { generateNewKey: true, password: NEW_PASSWORD };
  await leaves(['webhook key renewed'], 'PUT /api/hooks/:id', {
    ...own,
    url: `/api/hooks/${hookId}`,
    body: renewal,
  });
  for (const [action, body] of [
    ['webhook suspended', { suspended: true }],
    ['webhook suspension lifted', { suspended: false }],
    ['webhook key renewed', { generateNewKey: true, password: ADMIN_PASSWORD }],
  ] as const)
    await leaves([action], 'PUT /api/admin/hooks/:id', { url: `/api/admin/hooks/${hookId}`, body });
  await leaves(['webhook deleted'], 'DELETE /api/hooks/:id', {
    ...own,
    url: `/api/hooks/${hookId}`,
    body: { password: NEW_PASSWORD },
  });
  const second = (await own.by.post('/api/hooks', {})).json<{ id: string }>().id;
  await leaves(['webhook deleted'], 'DELETE /api/admin/hooks/:id', {
    url: `/api/admin/hooks/${second}`,
    body: { password: ADMIN_PASSWORD },
  });
});

test('risk limits and strategies', async () => {
  const ofUser = `/api/risk-limits/users/${user.user.id}`;
  for (const [route, url] of [
    ['/api/risk-limits', '/api/risk-limits'],
    ['/api/risk-limits/strategies/:processor', '/api/risk-limits/strategies/Tesla'],
    ['/api/risk-limits/users/:id', ofUser],
  ] as const) {
    await leaves(['risk limits changed'], `PUT ${route}`, { url, body: { maxOpenPositions: 1_000 } });
    await leaves(['risk limits reset'], `POST ${route}/reset`, { url: `${url}/reset` });
  }
  await leaves(['strategy changed'], 'PUT /api/strategies/:processor', {
    url: '/api/strategies/Tesla',
    body: { maxSignalAgeSeconds: 600 },
  });
});

test('exit plans', async () => {
  const body = { takeProfits: [{ atR: '1', percent: 50 }] };
  const plans = [
    ['/api/exit-plans/strategies/:processor', '/api/exit-plans/strategies/Tesla'],
    ['/api/exit-plans/users/:id', `/api/exit-plans/users/${user.user.id}`],
  ] as const;
  for (const [route, url] of plans) {
    await leaves(['exit plan changed'], `PUT ${route}`, { url, body });
  }
  await leaves(['exit plan applied'], 'POST /api/exit-plans/apply', {
    url: '/api/exit-plans/apply',
    body: { scope: { kind: 'strategy', value: 'Tesla' } },
  });
  for (const [route, url] of plans) await leaves(['exit plan changed'], `DELETE ${route}`, { url });
});

test('notification channels', async () => {
  const config = { url: 'https://example.com/a-secret-path', secret: `whsec_${'c2VjcmV0'.repeat(5)}` };
  secrets.push(config.secret, 'a-secret-path');
  const body = { kind: 'webhook', name: 'Ops', config };
  const route = '/api/notification-channels';
  const made = await leaves(['notification channel created'], `POST ${route}`, { body, status: 201 });
  const url = `${route}/${made.json().id}`;
  await leaves(['notification channel changed'], `PUT ${route}/:id`, {
    url,
    body: { ...body, name: 'Night' },
  });
  await leaves(['notification channel tested'], `POST ${route}/:id/test`, { url: `${url}/test` });
  await muteUntil(board.deps.db, { channelId: made.json().id, until: new Date(Date.now() + 3_600_000) });
  await leaves(['notification channel unmuted'], `DELETE ${route}/:id/mute`, { url: `${url}/mute` });
  await leaves(['notification channel deleted'], `DELETE ${route}/:id`, { url });
  await leaves([], 'POST /api/notifications/read', { body: { all: true } });

  await sender.candle({ Timeframe: '15', Close: '100', DateTime: '202605041000', Symbol: 'BTCUSDT' });
  await watchFeeds(board.deps, { listeningSince: new Date() });
  const [feed] = (await board.admin.get('/api/feeds')).json().feeds;
  const feedUrl = `/api/feeds/${feed.id}`;
  await leaves(['feed watch changed'], 'PUT /api/feeds/:id', { url: feedUrl, body: { muted: true } });
});

test('workflows, orders, positions and halts', async () => {
  const signalId = await signal('BTC');
  await leaves(['workflow triggered'], 'POST /api/trigger-automation', { body: { signalId } });
  await workflowOf(signalId, 'completed');
  await board.query(`update workflows set status = 'failed' where signal_id = $1`, [signalId]);
  await leaves(['workflow retried'], 'POST /api/automation/trigger/:signalId', {
    url: `/api/automation/trigger/${signalId}`,
  });

  await orderByHand('POST /api/position-maker/submit-order', 'ETH');
  const { takeProfit } = (
    await board.query(`select take_profit as "takeProfit" from trades where token = 'ETH'`)
  )[0];
  await leaves(['position protection move requested'], 'PUT /api/positions/protection', {
    body: { userId: user.user.id, token: 'ETH', takeProfit: String(Number(takeProfit) + 1) },
  });
  await leaves(['position close requested', 'position closed'], 'POST /api/positions/close', {
    body: { userId: user.user.id, token: 'ETH' },
  });
  const tradeId = await orderByHand('POST /api/individual-position-maker/process', 'SOL');
  await board.query(`update trades set exchange_account_id = '4711' where id = $1`, [tradeId]);
  await leaves(['position written off'], 'POST /api/positions/write-off', { body: { tradeId } });
  // Of another mode: nothing can look it up.
  await board.query(
    `update trades set state = 'protecting', exchange_mode = 'live', due_at = null where id = $1`,
    [tradeId],
  );
  await leaves(['order written off'], 'POST /api/position-maker/orders/:tradeId/write-off', {
    url: `/api/position-maker/orders/${tradeId}/write-off`,
  });

  const [{ id }] = await board.query(
    `insert into trading_halts (id, user_id, exchange_platform, token, kind, reason, since, cleared_at, cleared_how)
     values (gen_random_uuid(), $1, 'Bitget', 'DOT', 'unprotected', 'A test', now(), now(), 'A test') returning id`,
    [user.user.id],
  );
  await leaves(['trading resumed'], 'POST /api/admin/trading-halts/:id/resume', {
    url: `/api/admin/trading-halts/${id}/resume`,
  });
  const closing = await leaves(
    ['new entries stopped', 'closing of all positions requested'],
    'POST /api/positions/close-all',
    { body: { scope: { kind: 'token', value: 'SOL' }, confirm: 'CLOSE' }, status: 202 },
  );
  // A position that waits for its next try keeps it from ending.
  const { id: closingId } = closing.json<{ id: string }>();
  await board.query(
    `insert into flatten_positions (flatten_id, user_id, exchange_platform, token, is_entry, state, next_at)
     values ($1, $2, 'Bitget', 'NEVER', false, 'failed', '9999-01-01') on conflict do nothing`,
    [closingId, user.user.id],
  );
  await board.query('update flattens set ended_at = null where id = $1', [closingId]);
  await leaves(['closing of all positions dismissed'], 'DELETE /api/positions/close-all/:id', {
    url: `/api/positions/close-all/${closingId}`,
    status: 204,
  });
  const stop = await leaves(['new entries stopped'], 'POST /api/trading-stops', {
    body: { scope: { kind: 'token', value: 'NEVER' } },
    status: 201,
  });
  await leaves(['new entries resumed'], 'DELETE /api/trading-stops/:id', {
    url: `/api/trading-stops/${stop.json<{ id: string }>().id}`,
    status: 204,
  });
  await leaves(['position maker restarted'], 'POST /api/position-maker/restart', { body: {} });
});

test('every write route has left each entry that its rule names', () => {
  for (const { method, url, write } of board.app.declaredRoutes) {
    if (method === 'GET' || method === 'HEAD' || !write) continue;
    const route = `${method} ${url}`;
    const missing = write.audit.filter((action) => !seen.get(route)?.has(action));
    expect(missing, route).toEqual([]);
  }
});

test('every action is written by a route, or by a command or the program', () => {
  const byRoutes = new Set([...seen.values()].flatMap((actions) => [...actions]));
  const others = AUDIT_ACTIONS.filter((action) => !byRoutes.has(action));
  expect(others.sort()).toEqual([...NOT_BY_A_ROUTE].sort());
});

test('no entry has a password, key, code or token in it', async () => {
  const trail = JSON.stringify(await board.query('select * from audit_log'));
  for (const secret of [
    PASSWORD,
    NEW_PASSWORD,
    ADMIN_PASSWORD,
    KEYS.apiKey,
    KEYS.apiSecret,
    KEYS.passphrase,
    ...secrets,
  ])
    expect(trail).not.toContain(secret);
});
