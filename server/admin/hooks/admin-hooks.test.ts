import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AdminHook, AdminHooksAnswer, Webhook } from '#contract/hooks.ts';
import { createSecretBox } from '#server/platform/secret-box.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { ADMIN_PASSWORD, startTestApp, type TestApp, type TestUser } from '#test/app/test-app.ts';
import { hashHookKey } from './hook-keys.ts';
import { findHooksByHash } from './hooks.store.ts';

let board: TestApp;
const clock = fakeClock();

beforeAll(async () => {
  board = await startTestApp({ clock });
});
afterAll(() => board.close());

const UNKNOWN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const LIST = '/api/admin/hooks';

async function withHook(
  fields: { isAdmin?: boolean } = {},
): Promise<TestUser & { hook: Webhook; url: string }> {
  const owner = await board.createUser(fields);
  const hook = (await owner.client.post('/api/hooks', { name: 'Alerts' })).json<Webhook>();
  return { ...owner, hook, url: `${LIST}/${hook.id}` };
}

async function find(userId: string): Promise<AdminHook | null> {
  const { hooks } = (await board.admin.get(`${LIST}?userId=${userId}`)).json<AdminHooksAnswer>();
  return hooks[0] ?? null;
}

async function isOpen(key: string): Promise<boolean> {
  const keyHash = hashHookKey(createSecretBox(board.config.secretKey ?? ''), key);
  return (await findHooksByHash(board.database.db, [keyHash]))[0]?.isOpen ?? false;
}

describe('the list of all webhooks', () => {
  test('tells whose each is, what its state is and when something last came, with the key masked', async () => {
    const owner = await withHook({ isAdmin: true });
    expect(await find(owner.user.id)).toEqual({
      id: owner.hook.id,
      name: 'Alerts',
      userId: owner.user.id,
      username: owner.username,
      userActive: true,
      isAdmin: true,
      hookKey: `${owner.hook.hookKey.slice(0, 4)}…`,
      createdAt: clock.now().toISOString(),
      suspendedAt: null,
      lastDeliveryAt: null,
    });
    const usedAt = new Date('2026-01-01T10:00:00.000Z');
    await board.database.pool.query('update hooks set last_used_at = $1 where id = $2', [
      usedAt,
      owner.hook.id,
    ]);
    await board.admin.patch(`/api/admin/users/${owner.user.id}/deactivate`);
    expect(await find(owner.user.id)).toMatchObject({
      userActive: false,
      suspendedAt: null,
      lastDeliveryAt: usedAt.toISOString(),
    });
  });

  test('comes in pages by username, and counts all', async () => {
    for (let count = 1; count <= 3; count += 1) await withHook();
    const pages = await Promise.all(
      [1, 2].map(async (page) =>
        (await board.admin.get(`${LIST}?page=${page}&limit=2`)).json<AdminHooksAnswer>(),
      ),
    );
    const { hooks, total } = (await board.admin.get(`${LIST}?limit=1000`)).json<AdminHooksAnswer>();
    expect(hooks).toHaveLength(total);
    expect(pages.flatMap((page) => page.hooks)).toEqual(hooks.slice(0, 4));
    expect(pages.map((page) => page.total)).toEqual([total, total]);
    const byName = (await board.admin.get('/api/users')).json<{ id: string }[]>().map(({ id }) => id);
    const places = hooks.map(({ userId }) => byName.indexOf(userId));
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  test('is for administrators only, and a malformed user id is refused', async () => {
    const { client, url, password } = await withHook();
    const answers = [
      await client.get(LIST),
      await client.put(url, { suspended: true }),
      await client.put(url, { generateNewKey: true, password }),
      await client.delete(url, { password }),
    ];
    for (const answer of answers) expect(answer.statusCode).toBe(403);
    expect((await board.admin.get(`${LIST}?userId=12`)).statusCode).toBe(400);
  });
});

describe('a suspension', () => {
  test('shuts the webhook without a password, and its owner reads since when', async () => {
    const owner = await withHook();
    const since = clock.now().toISOString();
    const answer = await board.admin.put(owner.url, { suspended: true });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({ ...(await find(owner.user.id)), suspendedAt: since });
    expect(await isOpen(owner.hook.hookKey)).toBe(false);
    expect((await owner.client.get('/api/hooks')).json()).toMatchObject([{ suspendedAt: since }]);
    clock.advance(1_000);
    expect((await board.admin.put(owner.url, { suspended: true })).json().suspendedAt).toBe(since);

    expect((await board.admin.put(owner.url, { suspended: false })).json().suspendedAt).toBeNull();
    expect(await isOpen(owner.hook.hookKey)).toBe(true);
    expect((await owner.client.get('/api/hooks')).json()).toMatchObject([{ suspendedAt: null }]);
  });

  test('is not lifted by a reactivation, a renewal or a deletion by the owner', async () => {
    const owner = await withHook();
    const { password } = owner;
    await board.admin.put(owner.url, { suspended: true });
    await board.admin.patch(`/api/admin/users/${owner.user.id}/deactivate`);
    await board.admin.patch(`/api/admin/users/${owner.user.id}/reactivate`);
    const client = await board.signIn(owner.username, password);
    const own = `/api/hooks/${owner.hook.id}`;
    const renewed = await client.put(own, { generateNewKey: true, password });
    expect(renewed.json()).toMatchObject({ suspendedAt: clock.now().toISOString() });
    expect(await isOpen(renewed.json().hookKey)).toBe(false);
    const removed = await client.delete(own, { password });
    expect([removed.statusCode, removed.json()]).toEqual([
      409,
      { message: 'An administrator suspended this webhook' },
    ]);
    expect(await find(owner.user.id)).toMatchObject({ suspendedAt: clock.now().toISOString() });
  });
});

describe('renewing the key of any user', () => {
  test('ends the old key and shows the new one to its owner only, after the password', async () => {
    const owner = await withHook();
    const answer = await board.admin.put(owner.url, { generateNewKey: true, password: ADMIN_PASSWORD });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual(await find(owner.user.id));
    expect(answer.json().hookKey).toMatch(/^[\w-]{4}…$/);
    expect(await isOpen(owner.hook.hookKey)).toBe(false);
    const { password, client } = owner;
    await client.post('/api/auth/verify-password', { password });
    const [shown] = (await client.get('/api/hooks')).json<Webhook[]>();
    expect(shown?.hookKey.slice(0, 4)).toBe(answer.json().hookKey.slice(0, 4));
    expect(await isOpen(shown?.hookKey ?? '')).toBe(true);
  });

  test('asks for the password of the administrator', async () => {
    const owner = await withHook();
    const refused = await board.admin.put(owner.url, { generateNewKey: true, password: owner.password });
    expect([refused.statusCode, refused.json()]).toEqual([403, { message: 'Invalid password' }]);
    const missing = await board.admin.put(owner.url, { generateNewKey: true });
    expect([missing.statusCode, missing.json().message]).toEqual([400, 'Password is required']);
    expect(await isOpen(owner.hook.hookKey)).toBe(true);
  });
});

describe('deleting the webhook of any user', () => {
  test('asks for the password of the administrator, and the key is unknown at once', async () => {
    const owner = await withHook();
    expect((await board.admin.delete(owner.url, {})).json().message).toBe('Password is required');
    const refused = await board.admin.delete(owner.url, { password: owner.password });
    expect([refused.statusCode, refused.json()]).toEqual([403, { message: 'Invalid password' }]);
    const removed = await board.admin.delete(owner.url, { password: ADMIN_PASSWORD });
    expect([removed.statusCode, removed.json()]).toEqual([200, { message: 'Webhook deleted' }]);
    expect(await isOpen(owner.hook.hookKey)).toBe(false);
    expect(await find(owner.user.id)).toBeNull();
    expect((await owner.client.get('/api/hooks')).json()).toEqual([]);
  });
});

test('wrong passwords at these routes count together with those at the other password routes', async () => {
  const admin = await board.createUser({ isAdmin: true });
  const owner = await withHook();
  const wrong = { password: 'wrong' };
  for (let count = 1; count <= 5; count += 1) {
    expect((await admin.client.delete(owner.url, wrong)).statusCode).toBe(403);
    expect((await admin.client.put(owner.url, { generateNewKey: true, ...wrong })).statusCode).toBe(403);
  }
  expect((await admin.client.delete(owner.url, { password: admin.password })).statusCode).toBe(429);
  expect((await admin.client.post('/api/auth/verify-password', wrong)).statusCode).toBe(429);
  expect(await find(owner.user.id)).not.toBeNull();
});

test.each([
  [{}, 'Send suspended or generateNewKey'],
  [{ suspended: 'yes' }, 'suspended must be true or false'],
  [{ suspended: true, generateNewKey: true, password: 'x' }, 'Send suspended or generateNewKey'],
  [{ generateNewKey: false, password: 'x' }, 'generateNewKey must be true'],
])('a change of %j is refused: %s', async (body, message) => {
  const owner = await withHook();
  const answer = await board.admin.put(owner.url, body);
  expect([answer.statusCode, answer.json().message]).toEqual([400, message]);
});

test('an unknown webhook is 404', async () => {
  const url = `${LIST}/${UNKNOWN_ID}`;
  const answers = [
    await board.admin.put(url, { suspended: true }),
    await board.admin.put(url, { generateNewKey: true, password: ADMIN_PASSWORD }),
    await board.admin.delete(url, { password: ADMIN_PASSWORD }),
  ];
  for (const answer of answers) {
    expect([answer.statusCode, answer.json()]).toEqual([404, { message: 'Webhook not found' }]);
  }
});
