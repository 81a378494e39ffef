import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resetPassword } from '#server/admin/users/reset-password.ts';
import { systemClock } from '#server/platform/clock.ts';
import type { DeclaredRoute } from '#server/platform/http/access.ts';
import { enrolPasskey, enrolTotp, halfSignIn } from '#test/app/second-factors.ts';
import { expectAnswer, type TestClient, UNKNOWN_ID } from '#test/app/test-client.ts';
import { ADMIN_PASSWORD, ADMIN_USERNAME, startWorld, type TestUser, type World } from '#test/world.ts';

let live: World;
let board: World;

beforeAll(async () => {
  [live, board] = await Promise.all([
    startWorld({ config: { appEnv: 'production', exchangeMode: 'live' }, withFactors: false }),
    startWorld(),
  ]);
});
afterAll(() => Promise.all([live.close(), board.close()]));

const FACTOR_REQUIRED = { message: 'Set up a second factor first', failureType: 'factorRequired' };

/** What an administrator without a factor needs to set one up, or to leave. */
const OPEN = [
  'GET /api/auth/user',
  'GET /api/auth/factors',
  'GET /api/navigation/pages',
  'POST /api/auth/step-up',
  'POST /api/auth/step-up/options',
  'POST /api/auth/totp',
  'POST /api/auth/totp/confirm',
  'DELETE /api/auth/totp',
  'POST /api/auth/passkeys/options',
  'POST /api/auth/passkeys',
  'GET /api/auth/passkeys/:id',
  'DELETE /api/auth/passkeys/:id',
];

describe('an administrator of live mode without a second factor', () => {
  const ask = (client: TestClient, { method, url }: DeclaredRoute) =>
    client.send({
      method: method as 'POST',
      url: url.replace(/:\w+/g, UNKNOWN_ID).replace('*', 'nothing'),
      ...(method === 'GET' ? {} : { payload: {} }),
    });

  test('can do nothing but set one up', async () => {
    const client = await live.signIn(ADMIN_USERNAME, ADMIN_PASSWORD);
    const routes = live.app.declaredRoutes.filter(
      ({ access, method }) => ['user', 'admin'].includes(access) && method !== 'HEAD',
    );
    const open: string[] = [];
    for (const route of routes) {
      const name = `${route.method} ${route.url}`;
      const answer = await ask(client, route);
      if (answer.body.includes('factorRequired')) expectAnswer(answer, 403, FACTOR_REQUIRED);
      else open.push(name);
    }
    expect(open.toSorted()).toEqual(OPEN.toSorted());
  });

  test('is told so, and is let in with the first factor until the last one goes', async () => {
    const client = await live.signIn(ADMIN_USERNAME, ADMIN_PASSWORD, { stepUp: false });
    expect((await client.get('/api/auth/user')).json()).toMatchObject({ mustEnrolFactor: true });
    expect((await client.get('/api/auth/factors')).json()).toMatchObject({ required: true });
    expect((await client.post('/api/auth/totp')).json()).toMatchObject({ failureType: 'stepUpRequired' });
    await client.post('/api/auth/step-up', { password: ADMIN_PASSWORD });
    // A draft is no factor.
    await client.post('/api/auth/totp');
    expectAnswer(await client.get('/api/admin/users'), 403, FACTOR_REQUIRED);
    await enrolTotp(client, systemClock);
    expect((await client.get('/api/admin/users')).statusCode).toBe(200);
    expect((await client.get('/api/auth/user')).json()).not.toHaveProperty('mustEnrolFactor');
    await enrolPasskey(client);
    await client.delete('/api/auth/totp');
    expect((await client.get('/api/admin/users')).statusCode).toBe(200);
    const [{ id }] = (await client.get('/api/auth/factors')).json().passkeys;
    await client.delete(`/api/auth/passkeys/${id}`);
    expectAnswer(await client.get('/api/admin/users'), 403, FACTOR_REQUIRED);
  });

  test('keeps ordinary users out of nothing', async () => {
    const admin = await live.signIn(ADMIN_USERNAME, ADMIN_PASSWORD);
    const passkey = await enrolPasskey(admin);
    const { client } = await live.createUser();
    expect((await client.get('/api/user-settings')).statusCode).toBe(200);
    expect((await client.get('/api/auth/factors')).json()).toMatchObject({ required: false });
    expect(passkey.id).not.toBe('');
  });
});

describe('a reset of the factors by an administrator', () => {
  const reset = (client: TestClient, userId: string) => client.delete(`/api/admin/user/${userId}/factors`);
  const enters = async ({ username, password }: TestUser) =>
    (await board.anonymous.post('/api/auth/login', { username, password })).json();

  test('removes them all and ends every session and half sign-in', async () => {
    const user = await board.createUser();
    const { recoveryCodes } = await enrolTotp(user.client, systemClock);
    await enrolPasskey(user.client);
    const half = await halfSignIn(board, user);
    expect((await reset(board.admin, user.user.id)).statusCode).toBe(200);
    expect((await user.client.get('/api/auth/user')).statusCode).toBe(401);
    const [code] = recoveryCodes;
    expect((await half.post('/api/auth/login/factor', { code })).statusCode).toBe(401);
    expect(await enters(user)).toHaveProperty('user');
    const entries = await board.query(
      `select actor_name, "before" from audit_log where action = 'factors reset' and subject_id = $1`,
      [user.user.id],
    );
    const before = { totp: true, passkeys: 1, recoveryCodes: 10 };
    expect(entries).toEqual([{ actor_name: ADMIN_USERNAME, before }]);
  });

  test('asks for a confirmed identity, and is for others only', async () => {
    const { user } = await board.createUser();
    const client = await board.signIn(ADMIN_USERNAME, ADMIN_PASSWORD, { stepUp: false });
    expect((await reset(client, user.id)).json()).toMatchObject({ failureType: 'stepUpRequired' });
    const { id } = (await board.admin.get('/api/auth/user')).json().user;
    expectAnswer(await reset(board.admin, id), 403, 'You cannot reset your own second factors');
    expectAnswer(await reset(board.admin, UNKNOWN_ID), 404, 'User not found');
  });
});

test('a password that is reset on the machine removes the factors', async () => {
  const user = await board.createUser();
  await enrolTotp(user.client, systemClock);
  const half = await halfSignIn(board, user);
  const done = await resetPassword(board.deps, user.username);
  if (done.user === null) throw new Error('The user was not found');
  expect(done.hadFactors).toBe(true);
  expect((await half.post('/api/auth/login/factor', { code: '123456' })).statusCode).toBe(401);
  await board.signIn(user.username, done.password);
  expect(await resetPassword(board.deps, user.username)).toMatchObject({ hadFactors: false });
});

test('a user with a factor may choose a shorter password', async () => {
  const { client, password, username } = await board.createUser({
    isAdmin: true,
    password: 'twelve chars',
  });
  const change = (currentPassword: string, newPassword: string) =>
    client.put('/api/user-settings/change-password', { currentPassword, newPassword });
  expect((await change(password, 'seven c')).statusCode).toBe(400);
  await enrolTotp(client, systemClock);
  expect((await change(password, 'seven c')).statusCode).toBe(200);
  expect((await change('seven c', 'five5')).statusCode).not.toBe(200);
  expect(username).not.toBe('');
});
