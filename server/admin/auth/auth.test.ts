import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NavigationPage } from '#contract/pages.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { ADMIN_PASSWORD, ADMIN_USERNAME, startWorld, type World } from '#test/world.ts';

let board: World;
const clock = fakeClock();

beforeAll(async () => {
  board = await startWorld({ clock });
});
afterAll(() => board.close());

const ADMIN = {
  id: expect.any(String),
  username: ADMIN_USERNAME,
  isAdmin: true,
  firstName: null,
  lastName: null,
  countryCode: null,
  mobileNumber: null,
};
const REFUSED = { message: 'Invalid username or password' };

const login = (username: string, password: string, extra = {}) =>
  board.anonymous.post('/api/auth/login', { username, password }, extra);

// Requirements: accounts-fields-1, accounts-calls-4
test('sign-in returns the user and nothing secret', async () => {
  const answer = await login(ADMIN_USERNAME, ADMIN_PASSWORD);
  expect([answer.statusCode, answer.json()]).toEqual([200, { user: ADMIN }]);
});

// Requirements: sign-in-and-sessions-16
test('sign-in ignores letter case and compatibility forms of the username', async () => {
  expect((await login('ADMIN@Example.com', ADMIN_PASSWORD)).statusCode).toBe(200);
  expect((await login(' ａdmin@example.com ', ADMIN_PASSWORD)).statusCode).toBe(200);
});

// Requirements: sign-in-and-sessions-1
test('refuses an unknown user, a wrong password and an inactive user with the same message', async () => {
  const { user, username, password } = await board.createUser();
  await board.admin.patch(`/api/admin/users/${user.id}/deactivate`);
  const answers = await Promise.all([
    login('nobody@example.com', 'whatever'),
    login(ADMIN_USERNAME, 'whatever'),
    login(username, password),
  ]);
  for (const answer of answers) {
    expect([answer.statusCode, answer.json()]).toEqual([401, REFUSED]);
    expect(answer.headers['set-cookie']).toBeUndefined();
  }
});

// Requirements: sign-in-and-sessions-1
test('refuses a name or password too long for any account like a wrong one', async () => {
  for (const long of [1001, 5000]) {
    const answers = [
      await login('x'.repeat(long), 'whatever'),
      await login('ﷺ'.repeat(long / 4), 'whatever'),
      await login(ADMIN_USERNAME, 'x'.repeat(long)),
    ];
    for (const answer of answers) expect([answer.statusCode, answer.json()]).toEqual([401, REFUSED]);
  }
});

// Requirements: accounts-validation-2
test('names the field that is missing or empty', async () => {
  const empty = await login('', '');
  expect(empty.statusCode).toBe(400);
  expect(empty.json()).toEqual({
    message: 'Username is required',
    errors: [
      { path: 'username', message: 'Username is required' },
      { path: 'password', message: 'Password is required' },
    ],
  });
  const missing = await board.anonymous.post('/api/auth/login', { username: 'a' });
  expect(missing.json()).toMatchObject({ message: 'Password is required' });
});

// Requirements: sign-in-and-sessions-9
test('hides the cookie from scripts and other sites', async () => {
  const plain = await login(ADMIN_USERNAME, ADMIN_PASSWORD);
  expect(plain.headers['set-cookie']).toMatch(
    /^sid=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
  );
});

// Requirements: accounts-fields-1, accounts-calls-1, accounts-calls-3, settings-of-the-program-11
test('the session returns the user and the display time zone', async () => {
  const answer = await board.admin.get('/api/auth/user');
  expect(answer.json()).toEqual({ user: ADMIN, displayTimezone: 'America/Los_Angeles' });
});

// Requirements: sign-in-and-sessions-10
test('sign-in never adopts the cookie that came with it, and ends its session', async () => {
  const [attacker, victim] = [await board.createUser(), await board.createUser()];
  const { username, password } = victim;
  const answer = await attacker.client.post('/api/auth/login', { username, password });
  const cookie = `sid=${answer.cookies[0]?.value}`;
  expect(cookie).not.toBe(attacker.client.cookie);
  expect((await attacker.client.get('/api/auth/user')).statusCode).toBe(401);
  const session = await board.anonymous.get('/api/auth/user', { headers: { cookie } });
  expect(session.json().user.username).toBe(username);
});

// Requirements: accounts-calls-4
test('sign-out ends only this session and can be repeated', async () => {
  const one = await board.signIn(ADMIN_USERNAME, ADMIN_PASSWORD);
  const other = await board.signIn(ADMIN_USERNAME, ADMIN_PASSWORD);
  const answer = await one.post('/api/auth/logout');
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['set-cookie']).toMatch(/^sid=; .*Expires=Thu, 01 Jan 1970/);
  expect((await one.get('/api/auth/user')).statusCode).toBe(401);
  expect((await one.post('/api/auth/logout')).statusCode).toBe(200);
  expect((await other.get('/api/auth/user')).statusCode).toBe(200);
});

// Requirements: sign-in-and-sessions-8
test('stores no usable token in the database', async () => {
  const client = await board.signIn(ADMIN_USERNAME, ADMIN_PASSWORD);
  const token = client.cookie.slice('sid='.length);
  const { rows } = await board.database.pool.query('select sessions::text as row from sessions');
  const dump = JSON.stringify(rows);
  expect(rows.length).toBeGreaterThan(0);
  expect(dump).not.toContain(token);
  expect(dump).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
});

test('ends a session after twelve hours without a request', async () => {
  const idle = await board.signIn(ADMIN_USERNAME, ADMIN_PASSWORD);
  const busy = await board.signIn(ADMIN_USERNAME, ADMIN_PASSWORD);
  for (let hour = 0; hour < 13; hour++) {
    clock.advance(60 * 60 * 1000);
    expect((await busy.get('/api/auth/user')).statusCode).toBe(200);
  }
  expect((await idle.get('/api/auth/user')).statusCode).toBe(401);
});

test('ends an active session seven days after the sign-in', async () => {
  const client = await board.signIn(ADMIN_USERNAME, ADMIN_PASSWORD);
  for (let step = 0; step < 27; step++) {
    clock.advance(6 * 60 * 60 * 1000);
    expect((await client.get('/api/auth/user')).statusCode).toBe(200);
  }
  clock.advance(6 * 60 * 60 * 1000);
  expect((await client.get('/api/auth/user')).statusCode).toBe(401);
});

test('writes the time of the last request at most once a minute', async () => {
  const client = await board.signIn(ADMIN_USERNAME, ADMIN_PASSWORD);
  const { user } = (await client.get('/api/auth/user')).json();
  const lastSeen = async () => {
    const { rows } = await board.database.pool.query(
      'select max(last_seen_at) as seen from sessions where user_id = $1',
      [user.id],
    );
    return (rows[0].seen as Date).getTime();
  };
  const start = clock.now().getTime();
  clock.advance(59_000);
  await client.get('/api/auth/user');
  expect(await lastSeen()).toBe(start);
  clock.advance(1_000);
  await client.get('/api/auth/user');
  expect(await lastSeen()).toBe(start + 60_000);
});

// Requirements: accounts-validation-9, accounts-calls-5, answers-4
test('verifies a correct password and answers 403 to a wrong one', async () => {
  const { client, password } = await board.createUser();
  const right = await client.post('/api/auth/verify-password', { password });
  expect([right.statusCode, right.json()]).toEqual([200, { success: true, message: 'Password verified' }]);
  const wrong = await client.post('/api/auth/verify-password', { password: `${password}!` });
  expect([wrong.statusCode, wrong.json()]).toEqual([403, { message: 'Invalid password' }]);
});

// Requirements: screens-header-2, screens-routes-5, accounts-fields-10, sign-in-and-sessions-17
test('lists every page by group for administrators, and the dashboard, settings and webhook for other users', async () => {
  const admin = await board.signIn(ADMIN_USERNAME, ADMIN_PASSWORD);
  const { client } = await board.createUser();
  const pagesFor = async (caller: typeof client) =>
    (await caller.get('/api/navigation/pages'))
      .json()
      .pages.map((page: NavigationPage) => [
        page.pageName,
        page.path,
        page.displayName,
        page.icon,
        page.group,
      ]);
  expect(await pagesFor(client)).toEqual([
    ['Dashboard', '/', 'Dashboard', 'Home', 'Overview'],
    ['webhook', '/webhook', 'Webhook', 'Webhook', 'Manage'],
    ['alerts', '/alerts', 'Alerts', 'Bell', 'Manage'],
    ['Settings', '/settings', 'Settings', 'Settings', 'Manage'],
  ]);
  expect(await pagesFor(admin)).toEqual([
    ['Dashboard', '/', 'Dashboard', 'Home', 'Overview'],
    ['signals', '/signals', 'Signals', 'Activity', 'Trade'],
    ['positions', '/positions', 'Positions', 'Wallet', 'Trade'],
    ['position-calculator', '/position-calculator', 'Position Calculator', 'Calculator', 'Trade'],
    ['performance', '/performance', 'Performance', 'ChartLine', 'Performance'],
    ['strategies', '/strategies', 'Strategies', 'Stack2', 'Manage'],
    ['create-client', '/create-client', 'Users', 'Users', 'Manage'],
    ['configuration', '/configuration', 'Configuration', 'Webhook', 'Manage'],
    ['alerts', '/alerts', 'Alerts', 'Bell', 'Manage'],
    ['Settings', '/settings', 'Settings', 'Settings', 'Manage'],
    ['automation-workflows', '/automation-workflows', 'Workflows', 'Route', 'System'],
    ['position-maker', '/position-maker', 'Position Maker', 'Cpu', 'System'],
    ['price-logs', '/price-logs', 'Price Logs', 'ChartCandle', 'System'],
    ['audit', '/audit', 'Audit', 'History', 'System'],
  ]);
});
