import { createHash } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import type { AdminHook, AdminHooksAnswer, Webhook } from '#contract/hooks.ts';
import { createSecretBox } from '#server/platform/secret-box.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { expectAnswer, UNKNOWN_ID } from '#test/app/test-client.ts';
import { ADMIN_PASSWORD, startWorld, type World } from '#test/world.ts';
import { createHookKey, hashHookKey } from './hook-keys.ts';
import { findHooksByHash } from './hooks.store.ts';

const clock = fakeClock();

const board = await startWorld({ clock });
afterAll(() => board.close());

const WHOLE_KEY = /^[\w-]{43}$/;

async function withHook(fields: { isAdmin?: boolean } = {}) {
  const user = await board.createUser(fields);
  const hook = (await user.client.post('/api/hooks', { name: 'Alerts' })).json<Webhook>();
  return { ...user, hook, url: `/api/hooks/${hook.id}`, adminUrl: `/api/admin/hooks/${hook.id}` };
}

const masked = (key: string) => `${key.slice(0, 4)}…`;

async function lookUp(key: string) {
  const keyHash = hashHookKey(createSecretBox(board.config.secretKey ?? ''), key);
  const [hook] = await findHooksByHash(board.database.db, [keyHash]);
  return hook ?? null;
}

describe('creating the webhook', () => {
  // Requirements: accounts-fields-7, accounts-calls-6, accounts-limits-8, answers-6, webhook-deliveries-2
  test('returns it with its unmasked key once, under the default name', async () => {
    const { client } = await board.createUser();
    expect((await client.get('/api/hooks')).json()).toEqual([]);
    const answer = await client.post('/api/hooks', {});
    expect(answer.statusCode).toBe(201);
    const hook = answer.json<Webhook>();
    expect(hook).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{14}7/),
      name: 'Default Webhook',
      hookKey: expect.stringMatching(WHOLE_KEY),
      masked: false,
      unreadable: false,
      createdAt: clock.now().toISOString(),
      lastUsedAt: null,
      suspendedAt: null,
    });
    expect((await client.get('/api/hooks')).json()).toEqual([
      { ...hook, hookKey: masked(hook.hookKey), masked: true },
    ]);
  });

  // Requirements: webhook-deliveries-3
  test('accepts one of many concurrent requests', async () => {
    const { client } = await board.createUser();
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.post('/api/hooks', {})));
    expect(answers.map((answer) => answer.statusCode).sort()).toEqual([201, ...Array(9).fill(409)]);
    const refused = answers.find(({ statusCode }) => statusCode === 409);
    expect(refused?.json()).toEqual({ message: 'You already have a webhook' });
    expect((await client.get('/api/hooks')).json()).toHaveLength(1);
  });
});

describe('the key', () => {
  // Requirements: webhook-deliveries-2, webhook-deliveries-4
  test('is unmasked for five minutes after a password check, in the same session', async () => {
    const { client, username, password, hook } = await withHook();
    const other = await board.signIn(username, password);
    const shown = async (caller: typeof client) => (await caller.get('/api/hooks')).json()[0].hookKey;
    expect((await client.post('/api/auth/verify-password', { password: 'wrong' })).statusCode).toBe(403);
    expect(await shown(client)).toBe(masked(hook.hookKey));
    await client.post('/api/auth/verify-password', { password });
    expect(await shown(client)).toBe(hook.hookKey);
    expect(await shown(other)).toBe(masked(hook.hookKey));
    clock.advance(5 * 60_000 - 1);
    expect(await shown(client)).toBe(hook.hookKey);
    clock.advance(1);
    expect(await shown(client)).toBe(masked(hook.hookKey));
  });

  // Requirements: webhook-deliveries-2
  test('is stored neither in the clear nor as a plain hash', async () => {
    const { hook } = await withHook();
    const rows = await board.query('select hooks::text as row from hooks');
    const dump = JSON.stringify(rows);
    expect(dump).not.toContain(hook.hookKey);
    expect(dump).not.toContain(createHash('sha256').update(hook.hookKey).digest('hex'));
  });

  test('opens its webhook while its owner is active', async () => {
    const { hook, user } = await withHook();
    expect(await lookUp(hook.hookKey)).toMatchObject({ id: hook.id, isOpen: true });
    await board.admin.patch(`/api/admin/users/${user.id}/deactivate`);
    expect(await lookUp(hook.hookKey)).toMatchObject({ id: hook.id, isOpen: false });
    await board.admin.patch(`/api/admin/users/${user.id}/reactivate`);
    expect(await lookUp(hook.hookKey)).toMatchObject({ id: hook.id, isOpen: true });
  });

  test.each(['', 'short', `${'A'.repeat(43)}`, 'A'.repeat(10_000), 'nul\u0000', "' or 1=1 --"])(
    'finds nothing for the unknown key %j',
    async (key) => {
      expect(await lookUp(key)).toBeNull();
    },
  );
});

describe('a key sealed with another SECRET_KEY', () => {
  /** Stores a row as a program with another key would have written it. */
  async function withLockedKey() {
    const owner = await withHook();
    const { id } = owner.hook;
    const other = createSecretBox('another secret key of the tests, long enough');
    const { keySealed, keyHash } = createHookKey(other, { id, userId: owner.user.id });
    await board.query('update hooks set key_sealed = $2, key_hash = $3 where id = $1', [
      id,
      keySealed,
      keyHash,
    ]);
    const shown = async () => (await owner.client.get('/api/hooks')).json<Webhook[]>();
    return { ...owner, shown };
  }

  // Requirements: webhook-deliveries-5
  test('stays masked even after the password check, and is shown and logged as unreadable', async () => {
    const { client, hook, user, password, shown } = await withLockedKey();
    const unreadable = [{ ...hook, hookKey: '…', masked: true, unreadable: true }];
    expect(await shown()).toEqual(unreadable);
    await client.post('/api/auth/verify-password', { password });
    expect(await shown()).toEqual(unreadable);
    const lines = board.logged().split('\n');
    const said = lines.filter((line) => line.includes('does not open') && line.includes(hook.id));
    expect(said.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', userId: user.id, webhookId: hook.id },
      { level: 'error', userId: user.id, webhookId: hook.id },
    ]);
  });

  // Requirements: webhook-deliveries-5
  test('can be renewed, and the new key can be shown', async () => {
    const { client, hook, url, password, shown } = await withLockedKey();
    const renewed = (await client.put(url, { generateNewKey: true, password })).json<Webhook>();
    expect(renewed).toEqual({ ...hook, hookKey: expect.stringMatching(WHOLE_KEY) });
    expect(await shown()).toEqual([
      { ...hook, hookKey: masked(renewed.hookKey), masked: true, unreadable: false },
    ]);
    expect(await lookUp(renewed.hookKey)).toMatchObject({ id: hook.id });
  });

  // Requirements: webhook-deliveries-5
  test('is deleted with its webhook, and a new webhook can be created', async () => {
    const { client, url, password, shown } = await withLockedKey();
    expect((await client.post('/api/hooks', {})).statusCode).toBe(409);
    expect((await client.delete(url, { password })).statusCode).toBe(200);
    expect((await client.post('/api/hooks', {})).statusCode).toBe(201);
    expect(await shown()).toMatchObject([{ unreadable: false }]);
  });
});

describe('renewing and deleting', () => {
  const renew = (user: { client: World['admin']; url: string }, fields: object) =>
    user.client.put(user.url, { name: 'Default Webhook', generateNewKey: true, ...fields });

  // Requirements: accounts-states-12, accounts-calls-7
  test('returns a new unmasked key, and the old one stops working immediately', async () => {
    const user = await withHook();
    const answer = await renew(user, { password: user.password, name: 'Renamed' });
    expect(answer.statusCode).toBe(200);
    const renewed = answer.json<Webhook>();
    expect(renewed).toMatchObject({ id: user.hook.id, name: 'Renamed', masked: false });
    expect(renewed.hookKey).toMatch(WHOLE_KEY);
    expect(renewed.hookKey).not.toBe(user.hook.hookKey);
    expect(await lookUp(user.hook.hookKey)).toBeNull();
    expect(await lookUp(renewed.hookKey)).toMatchObject({ id: user.hook.id });
  });

  // Requirements: accounts-validation-9, accounts-calls-7, accounts-calls-8, answers-4
  test('require the password, and a refusal keeps the key', async () => {
    const { client, hook, url, password } = await withHook();
    const refusals = [
      [403, 'Invalid password', await client.put(url, { generateNewKey: true, password: 'wrong' })],
      [403, 'Invalid password', await client.delete(url, { password: 'wrong' })],
      [400, 'Password is required', await client.put(url, { generateNewKey: true })],
      [400, 'Password is required', await client.delete(url, {})],
    ] as const;
    for (const [status, message, answer] of refusals) {
      expect([answer.statusCode, answer.json().message]).toEqual([status, message]);
    }
    expect((await client.put(url, { generateNewKey: false, password })).statusCode).toBe(400);
    expect(await lookUp(hook.hookKey)).not.toBeNull();
  });

  // Requirements: accounts-calls-8
  test('a deleted webhook’s key stops working immediately, and another webhook can be created', async () => {
    const { client, hook, url, password } = await withHook();
    expect((await client.delete(url, { password })).statusCode).toBe(200);
    expect(await lookUp(hook.hookKey)).toBeNull();
    expect((await client.get('/api/hooks')).json()).toEqual([]);
    expect((await client.delete(url, { password })).statusCode).toBe(404);
    expect((await client.post('/api/hooks', {})).statusCode).toBe(201);
  });
});

// Requirements: accounts-roles-4
test('answers 404 for another user’s webhook, as for an unknown one', async () => {
  const owner = await withHook();
  const stranger = await withHook();
  const { password } = stranger;
  for (const id of [owner.hook.id, UNKNOWN_ID]) {
    const answers = [
      await stranger.client.put(`/api/hooks/${id}`, { generateNewKey: true, password }),
      await stranger.client.delete(`/api/hooks/${id}`, { password }),
      await stranger.client.get(`/api/hooks/${id}/deliveries`),
    ];
    for (const answer of answers) expectAnswer(answer, 404, 'Webhook not found');
  }
  expect(await lookUp(owner.hook.hookKey)).not.toBeNull();
});

// Requirements: webhook-deliveries-29
test('lists the last fifty deliveries, newest first', async () => {
  const { client, hook, url } = await withHook();
  await board.query(
    `insert into deliveries (id, hook_id, kind, result, reason, source_ip, record_id, received_at)
     select ('01890a5d-ac96-774b-bcce-b3020000' || lpad(to_hex(n), 4, '0'))::uuid, $1, 'signal', 'refused',
       'price is missing', '52.89.214.238', null, timestamptz '2026-01-01' + n * interval '1 second'
     from generate_series(1, 60) as n`,
    [hook.id],
  );
  const list = (await client.get(`${url}/deliveries`)).json();
  expect(list).toHaveLength(50);
  expect(list[0]).toEqual({
    id: '01890a5d-ac96-774b-bcce-b3020000003c',
    kind: 'signal',
    result: 'refused',
    reason: 'price is missing',
    sourceIp: '52.89.214.238',
    receivedAt: '2026-01-01T00:01:00.000Z',
    more: null,
  });
  expect(list[49].receivedAt).toBe('2026-01-01T00:00:11.000Z');
});

describe('webhooks of all users, for administrators', () => {
  const LIST = '/api/admin/hooks';

  async function find(userId: string): Promise<AdminHook | null> {
    const { hooks } = (await board.admin.get(`${LIST}?userId=${userId}`)).json<AdminHooksAnswer>();
    return hooks[0] ?? null;
  }

  const isOpen = async (key: string) => (await lookUp(key))?.isOpen ?? false;

  test('are listed with owner, state and last delivery, with the key masked', async () => {
    const owner = await withHook({ isAdmin: true });
    expect(await find(owner.user.id)).toEqual({
      id: owner.hook.id,
      name: 'Alerts',
      userId: owner.user.id,
      username: owner.username,
      userActive: true,
      isAdmin: true,
      hookKey: masked(owner.hook.hookKey),
      createdAt: clock.now().toISOString(),
      suspendedAt: null,
      lastDeliveryAt: null,
    });
    const usedAt = new Date('2026-01-01T10:00:00.000Z');
    await board.query('update hooks set last_used_at = $1 where id = $2', [usedAt, owner.hook.id]);
    await board.admin.patch(`/api/admin/users/${owner.user.id}/deactivate`);
    expect(await find(owner.user.id)).toMatchObject({
      userActive: false,
      suspendedAt: null,
      lastDeliveryAt: usedAt.toISOString(),
    });
  });

  test('are listed in pages by username, and all are counted', async () => {
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
    expect((await board.admin.get(`${LIST}?userId=12`)).statusCode).toBe(400);
    const byName = (await board.admin.get('/api/users')).json<{ id: string }[]>().map(({ id }) => id);
    const places = hooks.map(({ userId }) => byName.indexOf(userId));
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  test('are closed by a suspension without a password, which shows their owner since when', async () => {
    const owner = await withHook();
    const since = clock.now().toISOString();
    const answer = await board.admin.put(owner.adminUrl, { suspended: true });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({ ...(await find(owner.user.id)), suspendedAt: since });
    expect(await isOpen(owner.hook.hookKey)).toBe(false);
    expect((await owner.client.get('/api/hooks')).json()).toMatchObject([{ suspendedAt: since }]);
    clock.advance(1_000);
    expect((await board.admin.put(owner.adminUrl, { suspended: true })).json().suspendedAt).toBe(since);

    expect((await board.admin.put(owner.adminUrl, { suspended: false })).json().suspendedAt).toBeNull();
    expect(await isOpen(owner.hook.hookKey)).toBe(true);
    expect((await owner.client.get('/api/hooks')).json()).toMatchObject([{ suspendedAt: null }]);
  });

  test('stay suspended when the user is reactivated or the owner renews or deletes the webhook', async () => {
    const owner = await withHook();
    const { password } = owner;
    await board.admin.put(owner.adminUrl, { suspended: true });
    await board.admin.patch(`/api/admin/users/${owner.user.id}/deactivate`);
    await board.admin.patch(`/api/admin/users/${owner.user.id}/reactivate`);
    const client = await board.signIn(owner.username, password);
    const own = `/api/hooks/${owner.hook.id}`;
    const renewed = await client.put(own, { generateNewKey: true, password });
    expect(renewed.json()).toMatchObject({ suspendedAt: clock.now().toISOString() });
    expect(await isOpen(renewed.json().hookKey)).toBe(false);
    expectAnswer(await client.delete(own, { password }), 409, 'An administrator suspended this webhook');
    expect(await find(owner.user.id)).toMatchObject({ suspendedAt: clock.now().toISOString() });
  });

  test('get a new key, which is shown only to their owner, after a password check', async () => {
    const owner = await withHook();
    const answer = await board.admin.put(owner.adminUrl, { generateNewKey: true, password: ADMIN_PASSWORD });
    expectAnswer(answer, 200, await find(owner.user.id));
    expect(answer.json().hookKey).toMatch(/^[\w-]{4}…$/);
    expect(await isOpen(owner.hook.hookKey)).toBe(false);
    const { password, client } = owner;
    await client.post('/api/auth/verify-password', { password });
    const [shown] = (await client.get('/api/hooks')).json<Webhook[]>();
    expect(shown?.hookKey.slice(0, 4)).toBe(answer.json().hookKey.slice(0, 4));
    expect(await isOpen(shown?.hookKey ?? '')).toBe(true);
  });

  test('are renewed and deleted only with the administrator’s password; a deletion ends the key', async () => {
    const owner = await withHook();
    const { password } = owner;
    for (const change of [
      (body: object) => board.admin.put(owner.adminUrl, { generateNewKey: true, ...body }),
      (body: object) => board.admin.delete(owner.adminUrl, body),
    ]) {
      expectAnswer(await change({ password }), 403, 'Invalid password');
      expect((await change({})).json().message).toBe('Password is required');
    }
    expect(await isOpen(owner.hook.hookKey)).toBe(true);
    const deleted = await board.admin.delete(owner.adminUrl, { password: ADMIN_PASSWORD });
    expectAnswer(deleted, 200, 'Webhook deleted');
    expect(await isOpen(owner.hook.hookKey)).toBe(false);
    expect(await find(owner.user.id)).toBeNull();
    expect((await owner.client.get('/api/hooks')).json()).toEqual([]);
  });

  test('counts wrong passwords together with those of the other password routes', async () => {
    const admin = await board.createUser({ isAdmin: true });
    const owner = await withHook();
    const wrong = { password: 'wrong' };
    for (let count = 1; count <= 5; count += 1) {
      expect((await admin.client.delete(owner.adminUrl, wrong)).statusCode).toBe(403);
      expect((await admin.client.put(owner.adminUrl, { generateNewKey: true, ...wrong })).statusCode).toBe(
        403,
      );
    }
    expect((await admin.client.delete(owner.adminUrl, { password: admin.password })).statusCode).toBe(429);
    expect((await admin.client.post('/api/auth/verify-password', wrong)).statusCode).toBe(429);
    expect(await find(owner.user.id)).not.toBeNull();
  });

  test.each([
    [{}, 'Send suspended or generateNewKey'],
    [{ suspended: 'yes' }, 'suspended must be true or false'],
    [{ suspended: true, generateNewKey: true, password: 'x' }, 'Send suspended or generateNewKey'],
    [{ generateNewKey: false, password: 'x' }, 'generateNewKey must be true'],
  ])('refuses the change %j: %s', async (body, message) => {
    const answer = await board.admin.put(`${LIST}/${UNKNOWN_ID}`, body);
    expect([answer.statusCode, answer.json().message]).toEqual([400, message]);
  });

  test('answers 404 for an unknown webhook', async () => {
    const url = `${LIST}/${UNKNOWN_ID}`;
    const answers = [
      await board.admin.put(url, { suspended: true }),
      await board.admin.put(url, { generateNewKey: true, password: ADMIN_PASSWORD }),
      await board.admin.delete(url, { password: ADMIN_PASSWORD }),
    ];
    for (const answer of answers) expectAnswer(answer, 404, 'Webhook not found');
  });
});
