import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeClock } from '#test/app/fake-clock.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { codeOf, enrolTotp, halfSignIn, statusOf } from '#test/app/second-factors.ts';
import { cookieOf, expectAnswer, testClient } from '#test/app/test-client.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';

let board: World;
const clock = fakeClock(new Date());

beforeAll(async () => {
  board = await startWorld({ clock });
});
afterAll(() => board.close());

const STEP_MS = 30_000;
const MINUTE_MS = 60_000;
const REFUSED = 'The code or passkey was not accepted';
const ENDED = 'Sign in again with your password';

/** A user with an app whose first code is used up and past. */
async function owner() {
  const user = await board.createUser();
  const app = await enrolTotp(user.client, clock);
  clock.advance(5 * STEP_MS);
  return { ...user, app };
}

const enter = async (user: TestUser, code: string, remoteAddress?: string) =>
  (await halfSignIn(board, user, remoteAddress)).post(
    '/api/auth/login/factor',
    { code },
    remoteAddress === undefined ? {} : { remoteAddress },
  );

const actionsOf = async (user: TestUser): Promise<string[]> => {
  const rows = await board.query(
    'select action from audit_log where actor_id = $1 or subject_id = $1::text order by id',
    [user.user.id],
  );
  return rows.map(({ action }) => action);
};

describe('setting up an authenticator app', () => {
  test('shows its secret as text, address and QR code, and takes it into use with a code', async () => {
    const user = await board.createUser();
    const { secret, otpauthUrl, qrSvg } = (await user.client.post('/api/auth/totp')).json();
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const url = new URL(otpauthUrl);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      secret,
      issuer: 'Signal Board',
      digits: '6',
    });
    expect(decodeURIComponent(url.pathname)).toContain(user.username);
    expect(qrSvg).toMatch(/^<svg /);
    expect((await user.client.get('/api/auth/factors')).json().totp).toBeNull();

    const wrong = await user.client.post('/api/auth/totp/confirm', { code: '000000' });
    expectAnswer(wrong, 403, REFUSED);
    const code = codeOf(secret, clock.now().getTime());
    const { recoveryCodes } = (await user.client.post('/api/auth/totp/confirm', { code })).json();
    expect(new Set(recoveryCodes).size).toBe(10);
    for (const one of recoveryCodes)
      expect(one).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
    expect((await user.client.get('/api/auth/factors')).json()).toEqual({
      totp: { confirmedAt: clock.now().toISOString() },
      passkeys: [],
      recoveryCodesLeft: 10,
      required: false,
    });
    expect(await actionsOf(user)).toContain('authenticator app added');
  });

  test('begins again while it is not confirmed, and then no longer', async () => {
    const { client } = await board.createUser();
    expectAnswer(
      await client.post('/api/auth/totp/confirm', { code: '000000' }),
      409,
      'Start again: no authenticator app is being set up',
    );
    const { secret: former } = (await client.post('/api/auth/totp')).json();
    const { secret } = (await client.post('/api/auth/totp')).json();
    const nowMs = clock.now().getTime();
    const confirm = (of: string) => client.post('/api/auth/totp/confirm', { code: codeOf(of, nowMs) });
    expect((await confirm(former)).statusCode).toBe(403);
    expect((await confirm(secret)).statusCode).toBe(200);
    const exists = 'An authenticator app is set up already';
    expectAnswer(await client.post('/api/auth/totp'), 409, exists);
    expectAnswer(await confirm(secret), 409, exists);
  });

  test('asks for a confirmed identity, as does removing it', async () => {
    const { username, password } = await board.createUser();
    const client = await board.signIn(username, password, { stepUp: false });
    for (const call of [
      client.post('/api/auth/totp'),
      client.post('/api/auth/totp/confirm', { code: '123456' }),
      client.delete('/api/auth/totp'),
      client.post('/api/auth/passkeys/options'),
    ]) {
      expect((await call).json()).toMatchObject({ failureType: 'stepUpRequired' });
    }
  });

  test('does nothing to the sign-in before it is confirmed', async () => {
    const { client, username, password } = await board.createUser();
    await client.post('/api/auth/totp');
    expect((await board.anonymous.post('/api/auth/login', { username, password })).json()).toHaveProperty(
      'user',
    );
  });
});

describe('signing in with an app', () => {
  test('takes the password first, which opens no session', async () => {
    const user = await owner();
    const { username, password } = user;
    const before = await board.query('select 1 from sessions');
    const answer = await board.anonymous.post('/api/auth/login', { username, password });
    expectAnswer(answer, 200, { factorRequired: ['totp'] });
    expect(answer.headers['set-cookie']).toMatch(
      /^half-sid=[\w-]{43}; Max-Age=300; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect(await board.query('select 1 from sessions')).toHaveLength(before.length);
    const token = answer.cookies[0]?.value ?? '';
    for (const cookie of [cookieOf(answer), `sid=${token}`]) {
      expect((await testClient(board.app, cookie).get('/api/auth/user')).statusCode).toBe(401);
    }
    const wrong = await board.anonymous.post('/api/auth/login', { username, password: 'wrong' });
    expectAnswer(wrong, 401, 'Invalid username or password');

    const half = testClient(board.app, cookieOf(answer));
    const entered = await half.post('/api/auth/login/factor', { code: user.app.code() });
    expect(entered.json().user.username).toBe(username);
    const [session, cleared] = [entered.headers['set-cookie']].flat();
    expect(session).toMatch(/^sid=[\w-]{43}; /);
    expect(cleared).toMatch(/^half-sid=; .*Expires=Thu, 01 Jan 1970/);
    expect((await testClient(board.app, cookieOf(entered)).get('/api/auth/user')).statusCode).toBe(200);
    expect(await actionsOf(user)).toEqual(expect.arrayContaining(['sign-in refused', 'signed in']));
  });

  test('keeps the cookie of half a sign-in to HTTPS and this host', async () => {
    const user = await owner();
    const secure = await board.buildInstance({ publicUrl: 'https://board.example.com' });
    const { username, password } = user;
    const answer = await testClient(secure.app).post('/api/auth/login', { username, password });
    expect(answer.headers['set-cookie']).toMatch(
      /^__Host-half-sid=[\w-]{43}; .*; HttpOnly; Secure; SameSite=Lax$/,
    );
    await secure.app.close();
    await secure.stop();
  });

  test('accepts no code twice, nor an older one', async () => {
    const user = await owner();
    const code = user.app.code();
    expect((await enter(user, code)).statusCode).toBe(200);
    expectAnswer(await enter(user, code), 403, REFUSED);
    expectAnswer(await user.client.post('/api/auth/step-up', { code }), 403, REFUSED);
    expectAnswer(await enter(user, user.app.code(-1)), 403, REFUSED);
    clock.advance(STEP_MS);
    expect((await enter(user, user.app.code())).statusCode).toBe(200);
  });

  test('does not accept the code that took the app into use', async () => {
    const user = await board.createUser();
    const app = await enrolTotp(user.client, clock);
    expectAnswer(await enter(user, app.code()), 403, REFUSED);
  });

  test('accepts a code once when it is sent five times at once', async () => {
    const user = await owner();
    const halves = await Promise.all(Array.from({ length: 5 }, () => halfSignIn(board, user)));
    const code = user.app.code();
    const codes = await Promise.all(
      halves.map((half) => statusOf(half.post('/api/auth/login/factor', { code }))),
    );
    expect(codes.toSorted()).toEqual([200, 403, 403, 403, 403]);
  });

  test('forgives a clock that is one step off, and not two', async () => {
    const user = await owner();
    for (const [steps, status] of [
      [-2, 403],
      [2, 403],
      [-1, 200],
      [1, 200],
    ] as const) {
      expect((await enter(user, user.app.code(steps))).statusCode, `${steps} steps`).toBe(status);
    }
  });

  test('is not needed any more when the app was removed', async () => {
    const user = await owner();
    expect((await user.client.delete('/api/auth/totp')).statusCode).toBe(200);
    const { username, password } = user;
    expect((await board.anonymous.post('/api/auth/login', { username, password })).json()).toHaveProperty(
      'user',
    );
    expect((await user.client.get('/api/auth/factors')).json()).toMatchObject({
      totp: null,
      recoveryCodesLeft: 0,
    });
    expect((await user.client.delete('/api/auth/totp')).statusCode).toBe(404);
    expect(await actionsOf(user)).toContain('authenticator app removed');
  });
});

describe('guessing a code with the right password', () => {
  const guess = (user: TestUser, remoteAddress: string, code = '000000') => enter(user, code, remoteAddress);

  test('has to wait longer and longer after five wrong ones, from all addresses together', async () => {
    const user = await owner();
    for (let at = 0; at < 5; at++) {
      expect((await guess(user, `198.51.100.${at}`)).statusCode).toBe(403);
    }
    for (const waitMinutes of [1, 2, 4]) {
      const refused = await guess(user, '198.51.100.77', user.app.code());
      expectAnswer(refused, 429, 'Too many failed attempts. Try again later.');
      expect(Number(refused.headers['retry-after'])).toBe(waitMinutes * 60);
      clock.advance(waitMinutes * MINUTE_MS);
      expect((await guess(user, '198.51.100.78')).statusCode).toBe(403);
    }
    expect((await guess(user, '198.51.100.79', user.app.code())).statusCode).toBe(429);
    // The owner signs in where the owner did before.
    expect((await enter(user, user.app.code())).statusCode).toBe(200);
    const known = await board.query('select address from known_addresses where user_id = $1', [user.user.id]);
    expect(known).toEqual([{ address: '127.0.0.1' }]);
  });

  testEveryCase('is counted across instances', async () => {
    const user = await owner();
    const other = await board.buildInstance();
    const from = { remoteAddress: '198.51.100.90' };
    const halves = [await halfSignIn(board, user), await halfSignIn(other, user)];
    const guesses = [0, 1, 0, 1, 0, 1, 0].map((at) => halves[at]);
    const codes: (number | undefined)[] = [];
    for (const half of guesses) {
      codes.push((await half?.post('/api/auth/login/factor', { code: '000000' }, from))?.statusCode);
    }
    expect(codes).toEqual([403, 403, 403, 403, 403, 429, 429]);
    await other.app.close();
    await other.stop();
  });

  testEveryCase('evaluates five of many at once', async () => {
    const user = await owner();
    const half = await halfSignIn(board, user);
    const codes = await Promise.all(
      Array.from({ length: 15 }, () => statusOf(half.post('/api/auth/login/factor', { code: '000000' }))),
    );
    expect(codes.filter((code) => code === 403)).toHaveLength(5);
    expect(codes.filter((code) => code === 429)).toHaveLength(10);
  });

  test('is limited in the same way for a stolen session', async () => {
    const user = await owner();
    const codes: number[] = [];
    for (let at = 0; at < 6; at++) {
      codes.push(await statusOf(user.client.post('/api/auth/step-up', { code: '000000' })));
    }
    expect(codes).toEqual([403, 403, 403, 403, 403, 429]);
  });
});

describe('a recovery code', () => {
  test('works once, even when it is sent twenty times at once', async () => {
    const user = await owner();
    const addresses = Array.from({ length: 20 }, (_, at) => `203.0.113.${at + 1}`);
    // Each known address has its own limit, so that none of the calls is refused unread.
    await board.query(
      'insert into known_addresses (user_id, address, last_used_at) select $1, unnest($2::text[]), $3',
      [user.user.id, addresses, clock.now()],
    );
    const halves = await Promise.all(addresses.map((address) => halfSignIn(board, user, address)));
    const [code = ''] = user.app.recoveryCodes;
    const codes = await Promise.all(
      halves.map((half, at) =>
        statusOf(half.post('/api/auth/login/factor', { code }, { remoteAddress: addresses[at] ?? '' })),
      ),
    );
    expect(codes.toSorted()).toEqual([200, ...Array(19).fill(403)]);
    expect((await user.client.get('/api/auth/factors')).json().recoveryCodesLeft).toBe(9);
    expect(await actionsOf(user)).toContain('recovery codes used');
  });

  testEveryCase('is accepted as people type it, and confirms an identity too', async () => {
    const user = await owner();
    const [first = '', second = '', third = ''] = user.app.recoveryCodes;
    expect((await enter(user, ` ${first.toLowerCase().replaceAll('-', ' ')} `)).statusCode).toBe(200);
    expect((await user.client.post('/api/auth/step-up', { code: second })).statusCode).toBe(200);
    expect((await enter(user, second)).statusCode).toBe(403);
    const other = await owner();
    expect((await enter(other, third)).statusCode).toBe(403);
  });
});

describe('half a sign-in', () => {
  const complete = (half: { post: World['anonymous']['post'] }, code: string) =>
    half.post('/api/auth/login/factor', { code });

  test('ends after five minutes', async () => {
    const user = await owner();
    const half = await halfSignIn(board, user);
    clock.advance(5 * MINUTE_MS);
    expectAnswer(await complete(half, user.app.code()), 401, ENDED);
    expectAnswer(await complete(board.anonymous, user.app.code()), 401, ENDED);
  });

  test('becomes one session', async () => {
    const user = await owner();
    const half = await halfSignIn(board, user);
    const codes = user.app.recoveryCodes.slice(0, 4);
    const answers = await Promise.all(codes.map((code) => statusOf(complete(half, code))));
    expect(answers.toSorted()).toEqual([200, 401, 401, 401]);
    // A code is used up only by a session that opens.
    expect((await user.client.get('/api/auth/factors')).json().recoveryCodesLeft).toBe(9);
  });

  test('ends with a change of the password', async () => {
    const user = await owner();
    const half = await halfSignIn(board, user);
    const changed = await user.client.put('/api/user-settings/change-password', {
      currentPassword: user.password,
      newPassword: 'the next password',
    });
    expect(changed.statusCode).toBe(200);
    expectAnswer(await complete(half, user.app.code()), 401, ENDED);
  });

  test('ends with the deactivation of its user, and stays ended', async () => {
    const user = await owner();
    const half = await halfSignIn(board, user);
    await board.admin.patch(`/api/admin/users/${user.user.id}/deactivate`);
    expectAnswer(await complete(half, user.app.code()), 401, ENDED);
    const { username, password } = user;
    const login = await board.anonymous.post('/api/auth/login', { username, password });
    expectAnswer(login, 401, 'Invalid username or password');
    await board.admin.patch(`/api/admin/users/${user.user.id}/reactivate`);
    expectAnswer(await complete(half, user.app.code()), 401, ENDED);
  });

  test('does not complete for a user who was deactivated without it', async () => {
    const user = await owner();
    const half = await halfSignIn(board, user);
    await board.query('update users set is_active = false where id = $1', [user.user.id]);
    expectAnswer(await complete(half, user.app.code()), 401, ENDED);
  });

  test('ends with a sign-out', async () => {
    const user = await owner();
    const half = await halfSignIn(board, user);
    expect((await half.post('/api/auth/logout')).statusCode).toBe(200);
    expectAnswer(await complete(half, user.app.code()), 401, ENDED);
  });
});

test('confirms an identity with a code', async () => {
  const user = await owner();
  const client = testClient(board.app, cookieOf(await enter(user, user.app.code())));
  expect((await client.delete('/api/auth/totp')).json()).toMatchObject({ failureType: 'stepUpRequired' });
  clock.advance(STEP_MS);
  const answer = await client.post('/api/auth/step-up', { code: user.app.code() });
  expectAnswer(answer, 200, { until: new Date(clock.now().getTime() + 5 * MINUTE_MS).toISOString() });
  expect((await client.delete('/api/auth/totp')).statusCode).toBe(200);
  expect(await actionsOf(user)).toContain('identity confirmed');
});
