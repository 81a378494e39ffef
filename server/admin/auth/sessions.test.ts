import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, testClient } from '#test/app/test-client.ts';
import { countWaitingForLocks } from '#test/app/waiting-for-locks.ts';
import { ADMIN_PASSWORD, ADMIN_USERNAME, startWorld, type World } from '#test/world.ts';

let board: World;
let behindProxy: World;

beforeAll(async () => {
  board = await startWorld();
  behindProxy = await startWorld({ config: { trustProxy: ['127.0.0.1'] } });
});
afterAll(() => Promise.all([board.close(), behindProxy.close()]));

const cookieOf = (answer: Answer) => `${answer.cookies[0]?.name}=${answer.cookies[0]?.value}`;

async function isSignedIn(cookie: string): Promise<boolean> {
  return (await testClient(board.app, cookie).get('/api/auth/user')).statusCode === 200;
}

describe('changing the password', () => {
  const change = (user: { cookie: string }, currentPassword: string, newPassword: string) =>
    testClient(board.app, user.cookie).put('/api/user-settings/change-password', {
      currentPassword,
      newPassword,
    });

  // Requirements: answers-4
  test('leaves every session and its cookie unchanged when refused', async () => {
    const { client, username, password } = await board.createUser();
    const other = await board.signIn(username, password);
    const answer = await change(client, 'wrong', 'the next password');
    expect([answer.statusCode, answer.json()]).toEqual([403, { message: 'Invalid password' }]);
    expect(answer.headers['set-cookie']).toBeUndefined();
    await board.signIn(username, password);
    expect(await isSignedIn(client.cookie)).toBe(true);
    expect(await isSignedIn(other.cookie)).toBe(true);
  });

  test('requires the password again before the webhook key is shown', async () => {
    const { client, password } = await board.createUser();
    await client.post('/api/hooks', {});
    await client.post('/api/auth/verify-password', { password });
    const keyOf = async (cookie: string): Promise<string> =>
      (await testClient(board.app, cookie).get('/api/hooks')).json()[0].hookKey;
    expect(await keyOf(client.cookie)).toHaveLength(43);
    const answer = await change(client, password, 'the next password');
    expect(await keyOf(cookieOf(answer))).toMatch(/^.{4}…$/);
  });

  test('changes nothing and leaves no session when the user is deactivated concurrently', async () => {
    const { user, client, username, password } = await board.createUser();
    const deactivation = await board.database.pool.connect();
    await deactivation.query('begin');
    await deactivation.query('update users set is_active = false where id = $1', [user.id]);
    await deactivation.query('delete from sessions where user_id = $1', [user.id]);
    const changing = change(client, password, 'the next password');
    await expect.poll(() => countWaitingForLocks(board.database.db)).toBe(1);
    await deactivation.query('commit');
    deactivation.release();
    expect((await changing).statusCode).toBe(403);
    const { rows } = await board.database.pool.query('select id from sessions where user_id = $1', [user.id]);
    expect(rows).toEqual([]);
    await board.admin.patch(`/api/admin/users/${user.id}/reactivate`);
    await board.signIn(username, password);
  });
});

describe('losing a role', () => {
  // Requirements: sign-in-and-sessions-12
  test('applies to every session at its next request', async () => {
    const { user, client, username, password } = await board.createUser({ isAdmin: true });
    const sessions = [client, await board.signIn(username, password)];
    for (const session of sessions) expect((await session.get('/api/admin/users')).statusCode).toBe(200);
    await board.database.pool.query('update users set is_admin = false where id = $1', [user.id]);
    for (const session of sessions) {
      expect((await session.get('/api/admin/users')).statusCode).toBe(403);
      expect((await session.get('/api/auth/user')).json().user.isAdmin).toBe(false);
    }
  });
});

describe('over HTTPS behind a trusted proxy', () => {
  const https = { headers: { 'x-forwarded-proto': 'https' } };
  const signIn = async () => {
    const body = { username: ADMIN_USERNAME, password: ADMIN_PASSWORD };
    const answer = await behindProxy.anonymous.post('/api/auth/login', body, https);
    expect(answer.headers['set-cookie']).toMatch(
      /^__Host-sid=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    return cookieOf(answer);
  };
  const status = async (cookie: string) =>
    (await behindProxy.anonymous.get('/api/auth/user', { headers: { ...https.headers, cookie } })).statusCode;

  // Requirements: sign-in-and-sessions-9
  test('only the __Host- cookie counts, which another site of the domain cannot set', async () => {
    const cookie = await signIn();
    expect(await status(cookie)).toBe(200);
    expect(await status(cookie.replace('__Host-', ''))).toBe(401);
  });

  test('sign-out clears the cookie with the attributes it was set with', async () => {
    const cookie = await signIn();
    const answer = await behindProxy.anonymous.post('/api/auth/logout', undefined, {
      headers: { ...https.headers, cookie },
    });
    expect(answer.headers['set-cookie']).toMatch(
      /^__Host-sid=; .*Path=\/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(await status(cookie)).toBe(401);
  });

  test('a changed password sets a cookie of the same kind', async () => {
    const { user } = await behindProxy.createUser();
    const body = { username: user.username, password: 'a password of a user' };
    const cookie = cookieOf(await behindProxy.anonymous.post('/api/auth/login', body, https));
    const answer = await behindProxy.anonymous.put(
      '/api/user-settings/change-password',
      { currentPassword: 'a password of a user', newPassword: 'the next password' },
      { headers: { ...https.headers, cookie } },
    );
    expect(answer.headers['set-cookie']).toMatch(/^__Host-sid=[\w-]{43}; .*; Secure; SameSite=Lax$/);
  });

  test('an untrusted proxy cannot claim HTTPS', async () => {
    const body = { username: ADMIN_USERNAME, password: ADMIN_PASSWORD };
    const direct = await board.anonymous.post('/api/auth/login', body, https);
    const elsewhere = await behindProxy.anonymous.post('/api/auth/login', body, {
      ...https,
      remoteAddress: '192.0.2.1',
    });
    for (const answer of [direct, elsewhere])
      expect(answer.headers['set-cookie']).toMatch(/^sid=(?!.*Secure)/);
  });
});
