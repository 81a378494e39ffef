import { afterAll, describe, expect, test } from 'vitest';
import type { User } from '#contract/users.ts';
import { expectAnswer, UNKNOWN_ID } from '#test/app/test-client.ts';
import { countWaitingForLocks } from '#test/app/waiting-for-locks.ts';
import { startWorld } from '#test/world.ts';

const board = await startWorld();
afterAll(() => board.close());

const password = 'a long password';

const create = (fields: Record<string, unknown>) =>
  board.admin.post('/api/admin/create-client', { username: 'someone@example.com', password, ...fields });

describe('creating a user', () => {
  // Requirements: accounts-fields-3, accounts-fields-5, accounts-validation-7, accounts-calls-15
  // Requirements: accounts-limits-7, trading-fields-14, trading-constants-16, users-1
  test('answers 201 with the user, the defaults and no password hash', async () => {
    const answer = await create({
      username: 'ada@example.com',
      firstName: 'Ada',
      lastName: '',
      countryCode: '+44',
      mobileNumber: '7700900123',
    });
    expect(answer.statusCode).toBe(201);
    expect(answer.json()).toEqual({
      user: {
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/),
        username: 'ada@example.com',
        firstName: 'Ada',
        lastName: null,
        countryCode: '+44',
        mobileNumber: '7700900123',
        isAdmin: false,
        isActive: true,
        isTestUser: true,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        userActive: true,
        activeTradingEnabled: false,
        settings: {
          calculationBehavior: 'Futures_Limit_Classic',
          marketType: 'Futures',
          positionSizingMethod: 'Technical Analysis',
          investmentPortion: '0.05',
          maximumRiskPerTrade: '0.05',
          exchangePlatform: 'Bitget',
          signalProcessor: 'Tesla',
          signalTimeframe: 'Any',
          activeTrading: false,
          isTestUser: true,
          tradingPausedUntil: null,
          tradeOrderSet: 'M',
          oppositeSignal: 'reverse',
          updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        },
      },
    });
    expect(answer.body).not.toContain('argon2');
  });

  // Requirements: users-1
  test('creates a regular user on request, and always in live mode', async () => {
    const regular = await create({ username: 'regular@example.com', isTestUser: false });
    expect(regular.json().user.isTestUser).toBe(false);
    const live = await startWorld({ config: { exchangeMode: 'live', appEnv: 'production' } });
    expect((await live.createUser()).user.isTestUser).toBe(false);
    await live.close();
  });

  // Requirements: sign-in-and-sessions-16
  test('answers 409 for a username that exists in another case or form', async () => {
    expect((await create({ username: 'taken@example.com' })).statusCode).toBe(201);
    expectAnswer(
      await create({ username: 'TAKEN@Example.COM' }),
      409,
      'A user with this username already exists',
    );
  });

  test('creates one user from many concurrent requests with the same username', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => create({ username: 'race@example.com' })),
    );
    const codes = answers.map((answer) => answer.statusCode).sort();
    expect(codes).toEqual([201, ...Array(7).fill(409)]);
  });

  // Requirements: accounts-validation-4, accounts-validation-6, accounts-limits-5
  test.each([
    [{ username: 'ab' }, 'Username must be at least 3 characters'],
    [{ username: `${'a'.repeat(45)}@b.com` }, 'Username must be less than 50 characters'],
    [{ username: 'no e-mail' }, 'Please enter a valid email address'],
    [{ username: 'аdmin@example.com' }, 'Please enter a valid email address'],
    [{ password: '12345' }, 'Password must be at least 6 characters'],
    [{ password: 'x'.repeat(101) }, 'Password must be less than 100 characters'],
    [{ countryCode: '44' }, 'Country code must start with + followed by digits'],
    [{ countryCode: '+1234567' }, 'Country code must have at most 6 digits'],
    [{ mobileNumber: '07 70' }, 'Mobile number must contain only digits'],
    [{ mobileNumber: '1'.repeat(21) }, 'Mobile number must have at most 20 digits'],
    [{ firstName: 'x'.repeat(101) }, 'First name must be at most 100 characters'],
    [{ lastName: 'x'.repeat(101) }, 'Last name must be at most 100 characters'],
    [{ lastName: 'a\u200bb' }, 'Last name contains characters that are not allowed'],
    [{ username: undefined }, 'Username is required'],
  ])('refuses %j with the text of its rule', async (fields, message) => {
    const answer = await create(fields);
    expect([answer.statusCode, answer.json().message]).toEqual([400, message]);
  });

  test('keeps every character of a long password', async () => {
    const long = `${'é'.repeat(99)}!`;
    expect((await create({ username: 'long@example.com', password: long })).statusCode).toBe(201);
    await board.signIn('long@example.com', long);
    await expect(board.signIn('long@example.com', `${'é'.repeat(99)}?`)).rejects.toThrow('401');
  });
});

describe('listing users', () => {
  // Requirements: trading-fields-14, trading-calls-16, answers-5
  test('without paging returns every user, including inactive ones', async () => {
    const gone = await board.createUser();
    await board.admin.patch(`/api/admin/users/${gone.user.id}/deactivate`);
    const { users, total } = (await board.admin.get('/api/admin/users')).json();
    expect(users).toHaveLength(total);
    expect(users.find((user: User) => user.id === gone.user.id)).toMatchObject({
      isActive: false,
      userActive: false,
    });
  });

  // Requirements: accounts-calls-14, accounts-limits-1
  test('returns pages of ten users, newest first, and counts only active users unless requested', async () => {
    for (let at = 0; at < 11; at++) await create({ username: `page${at}@example.com` });
    const all = (await board.admin.get('/api/admin/users')).json().users as User[];
    const active = all.filter((user) => user.isActive);
    expect(active.length).toBeLessThan(all.length);

    const first = (await board.admin.get('/api/admin/users?page=1')).json();
    const second = (await board.admin.get('/api/admin/users?page=2&limit=10&includeInactive=false')).json();
    expect(first.total).toBe(active.length);
    expect(first.users).toHaveLength(10);
    expect([...first.users, ...second.users].map((user: User) => user.id)).toEqual(
      active.slice(0, 20).map((user) => user.id),
    );
    const inactiveToo = await board.admin.get('/api/admin/users?limit=1000&includeInactive=true');
    expect(inactiveToo.json()).toMatchObject({ total: all.length });
  });

  // Requirements: answers-5
  test.each([
    'page=0',
    'limit=0',
    'limit=1001',
    'page=-1',
    'page=1.5',
    'page=x',
    'page=1&page=2',
    'includeInactive=yes',
  ])('refuses ?%s', async (query) => {
    expect((await board.admin.get(`/api/admin/users?${query}`)).statusCode).toBe(400);
  });

  // Requirements: trading-calls-14, answers-6
  test('returns the list of names as a bare array of ids and usernames', async () => {
    const names = (await board.admin.get('/api/users')).json();
    expect(names.length).toBeGreaterThan(5);
    for (const entry of names) expect(Object.keys(entry)).toEqual(['id', 'username']);
  });

  // Requirements: accounts-calls-11, answers-2
  test('returns one user by id, 404 for an unknown id and 400 for a malformed one', async () => {
    const { user } = await board.createUser();
    expect((await board.admin.get(`/api/admin/user/${user.id}`)).json()).toEqual({ user });
    const path = `/api/admin/user/${UNKNOWN_ID}`;
    const answers = [
      await board.admin.get(path),
      await board.admin.put(`${path}/status`, { isActive: true }),
      await board.admin.put(`${path}/active-trading`, { activeTrading: true }),
    ];
    for (const answer of answers) {
      expectAnswer(answer, 404, 'User not found');
    }
    expect((await board.admin.get('/api/admin/user/12')).statusCode).toBe(400);
  });
});

describe('the status of a user', () => {
  // Requirements: accounts-states-5, accounts-calls-17, sign-in-and-sessions-11, users-22
  test('deactivation ends the sessions immediately and keeps the user out until reactivation', async () => {
    const { user, client, username, password: own } = await board.createUser();
    const second = await board.signIn(username, own);
    const off = await board.admin.put(`/api/admin/user/${user.id}/status`, { isActive: false });
    expect(off.json()).toEqual({ message: 'User is inactive' });
    expect((await client.get('/api/auth/user')).statusCode).toBe(401);
    expect((await second.get('/api/auth/user')).statusCode).toBe(401);
    await expect(board.signIn(username, own)).rejects.toThrow('401');

    await board.admin.put(`/api/admin/user/${user.id}/status`, { isActive: true });
    expect((await client.get('/api/auth/user')).statusCode).toBe(401);
    await board.signIn(username, own);
  });

  // Requirements: accounts-calls-17
  test('deactivate and reactivate do the same without a body', async () => {
    const { user } = await board.createUser();
    const isActive = async () => (await board.admin.get(`/api/admin/user/${user.id}`)).json().user.isActive;
    expect((await board.admin.patch(`/api/admin/users/${user.id}/deactivate`)).statusCode).toBe(200);
    expect(await isActive()).toBe(false);
    expect((await board.admin.patch(`/api/admin/users/${user.id}/reactivate`)).statusCode).toBe(200);
    expect(await isActive()).toBe(true);
  });

  // Requirements: accounts-states-6
  test('administrators cannot deactivate themselves', async () => {
    const { user } = (await board.admin.get('/api/auth/user')).json();
    const answers = [
      await board.admin.put(`/api/admin/user/${user.id}/status`, { isActive: false }),
      await board.admin.patch(`/api/admin/users/${user.id}/deactivate`),
    ];
    const refused = { message: 'You cannot deactivate your own account' };
    for (const answer of answers) expectAnswer(answer, 403, refused);
    expect((await board.admin.get('/api/auth/user')).statusCode).toBe(200);
  });

  test('a sign-in that overlaps the deactivation leaves no session', async () => {
    const { user, username, password: own } = await board.createUser();
    const deactivation = await board.database.pool.connect();
    await deactivation.query('begin');
    await deactivation.query('update users set is_active = false where id = $1', [user.id]);
    await deactivation.query('delete from sessions where user_id = $1', [user.id]);
    const signingIn = board.anonymous.post('/api/auth/login', { username, password: own });
    await expect.poll(() => countWaitingForLocks(board.database.db)).toBe(1);
    await deactivation.query('commit');
    deactivation.release();
    expect((await signingIn).statusCode).toBe(401);
    const rows = await board.query('select id from sessions where user_id = $1', [user.id]);
    expect(rows).toEqual([]);
  });
});

describe('active trading', () => {
  // Requirements: accounts-calls-16
  test('is switched by administrators', async () => {
    const { user } = await board.createUser();
    const on = await board.setTrading(user.id, true);
    expect(on.json()).toEqual({ message: 'Active trading is on' });
    const after = (await board.admin.get(`/api/admin/user/${user.id}`)).json().user;
    expect(after).toMatchObject({ activeTradingEnabled: true, settings: { activeTrading: true } });
    const off = await board.setTrading(user.id, false);
    expect(off.json()).toEqual({ message: 'Active trading is off' });
  });

  test('accepts only true and false', async () => {
    const { user } = await board.createUser();
    const path = `/api/admin/user/${user.id}/active-trading`;
    expect((await board.admin.put(path, { activeTrading: 'on' })).statusCode).toBe(400);
  });
});

// Requirements: sign-in-and-sessions-20
test('a new user ignores fields that a caller must not set', async () => {
  const answer = await create({
    username: 'mass@example.com',
    id: UNKNOWN_ID,
    isActive: false,
    activeTrading: true,
    activeTradingEnabled: true,
    passwordHash: 'x',
    usernameKey: 'admin@example.com',
    createdAt: '2000-01-01T00:00:00Z',
    settings: { activeTrading: true },
  });
  const { user } = answer.json<{ user: User }>();
  expect(user.id).not.toBe(UNKNOWN_ID);
  expect(user.isActive).toBe(true);
  expect(user.activeTradingEnabled).toBe(false);
  expect(user.createdAt.startsWith('2000')).toBe(false);
  await board.signIn('mass@example.com', password);
});
