import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Webhook } from '#contract/hooks.ts';
import { createSecretBox } from '#server/platform/secret-box.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { startTestApp, type TestApp, type TestUser } from '#test/app/test-app.ts';
import { createHookKey, hashHookKey } from './hook-keys.ts';
import { findHooksByHash } from './hooks.store.ts';

let board: TestApp;
const clock = fakeClock();

beforeAll(async () => {
  board = await startTestApp({ clock });
});
afterAll(() => board.close());

const WHOLE_KEY = /^[\w-]{43}$/;
const UNKNOWN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';

async function withHook(): Promise<TestUser & { hook: Webhook; url: string }> {
  const user = await board.createUser();
  const hook = (await user.client.post('/api/hooks', {})).json<Webhook>();
  return { ...user, hook, url: `/api/hooks/${hook.id}` };
}

async function lookUp(key: string) {
  const keyHash = hashHookKey(createSecretBox(board.config.secretKey ?? ''), key);
  const [hook] = await findHooksByHash(board.database.db, [keyHash]);
  return hook ?? null;
}

describe('creating the webhook', () => {
  // Requirements: accounts-fields-7, accounts-calls-6, accounts-limits-8, answers-6, webhook-deliveries-2
  test('answers it with its whole key once, under the default name', async () => {
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
      { ...hook, hookKey: `${hook.hookKey.slice(0, 4)}…`, masked: true },
    ]);
  });

  // Requirements: accounts-calls-6
  test('takes a name', async () => {
    const { client } = await board.createUser();
    expect((await client.post('/api/hooks', { name: 'My alerts' })).json().name).toBe('My alerts');
  });

  // Requirements: accounts-fields-7, webhook-deliveries-3
  test('a second create is answered 409', async () => {
    const { client } = await withHook();
    const answer = await client.post('/api/hooks', { name: 'Another' });
    expect(answer.statusCode).toBe(409);
    expect(answer.json()).toEqual({ message: 'You already have a webhook' });
  });

  // Requirements: webhook-deliveries-3
  test('of many creates at once, one makes it', async () => {
    const { client } = await board.createUser();
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.post('/api/hooks', {})));
    expect(answers.map((answer) => answer.statusCode).sort()).toEqual([201, ...Array(9).fill(409)]);
    expect((await client.get('/api/hooks')).json()).toHaveLength(1);
  });
});

describe('the key', () => {
  // Requirements: webhook-deliveries-2, webhook-deliveries-4
  test('is whole for five minutes after the password, in the session that gave it', async () => {
    const { client, username, password, hook } = await withHook();
    const other = await board.signIn(username, password);
    const shown = async (caller: typeof client) => (await caller.get('/api/hooks')).json()[0].hookKey;
    await client.post('/api/auth/verify-password', { password });
    expect(await shown(client)).toBe(hook.hookKey);
    expect(await shown(other)).toBe(`${hook.hookKey.slice(0, 4)}…`);
    clock.advance(5 * 60_000 - 1);
    expect(await shown(client)).toBe(hook.hookKey);
    clock.advance(1);
    expect(await shown(client)).toBe(`${hook.hookKey.slice(0, 4)}…`);
  });

  test('stays masked after a wrong password', async () => {
    const { client } = await withHook();
    expect((await client.post('/api/auth/verify-password', { password: 'wrong' })).statusCode).toBe(403);
    expect((await client.get('/api/hooks')).json()[0].masked).toBe(true);
  });

  // Requirements: webhook-deliveries-2
  test('is in the database neither in the clear nor as a plain hash', async () => {
    const { hook } = await withHook();
    const { rows } = await board.database.pool.query('select hooks::text as row from hooks');
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
    'an unknown key %j finds nothing',
    async (key) => {
      expect(await lookUp(key)).toBeNull();
    },
  );
});

describe('a key that was sealed under another SECRET_KEY', () => {
  /** The row as the program with the other key has left it. */
  async function withLockedKey() {
    const owner = await withHook();
    const { id } = owner.hook;
    const other = createSecretBox('another secret key of the tests, long enough');
    const { keySealed, keyHash } = createHookKey(other, { id, userId: owner.user.id });
    await board.database.pool.query('update hooks set key_sealed = $2, key_hash = $3 where id = $1', [
      id,
      keySealed,
      keyHash,
    ]);
    const shown = async () => (await owner.client.get('/api/hooks')).json<Webhook[]>();
    return { ...owner, shown };
  }

  // Requirements: webhook-deliveries-5
  test('cannot be shown, after the password either; the webhook says so, and the log whose it is', async () => {
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
  test('gives way to a renewed one, which can be shown', async () => {
    const { client, hook, url, password, shown } = await withLockedKey();
    const renewed = (await client.put(url, { generateNewKey: true, password })).json<Webhook>();
    expect(renewed).toEqual({ ...hook, hookKey: expect.stringMatching(WHOLE_KEY) });
    expect(await shown()).toEqual([
      { ...hook, hookKey: `${renewed.hookKey.slice(0, 4)}…`, masked: true, unreadable: false },
    ]);
    expect(await lookUp(renewed.hookKey)).toMatchObject({ id: hook.id });
  });

  // Requirements: webhook-deliveries-5
  test('goes with its webhook, and a new one can be created', async () => {
    const { client, url, password, shown } = await withLockedKey();
    expect((await client.post('/api/hooks', {})).statusCode).toBe(409);
    expect((await client.delete(url, { password })).statusCode).toBe(200);
    expect((await client.post('/api/hooks', {})).statusCode).toBe(201);
    expect(await shown()).toMatchObject([{ unreadable: false }]);
  });
});

describe('renewing', () => {
  const renew = (user: { client: TestApp['admin']; url: string }, fields: object) =>
    user.client.put(user.url, { name: 'Default Webhook', generateNewKey: true, ...fields });

  // Requirements: accounts-states-12, accounts-calls-7
  test('answers a new whole key, and the old one is unknown at once', async () => {
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

  // Requirements: accounts-validation-9, answers-4
  test('with a wrong password is 403 and leaves the key', async () => {
    const user = await withHook();
    const answer = await renew(user, { password: 'wrong' });
    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toEqual({ message: 'Invalid password' });
    expect(await lookUp(user.hook.hookKey)).not.toBeNull();
  });

  // Requirements: accounts-validation-9, accounts-calls-7
  test('without a password, or without saying so, is 400', async () => {
    const user = await withHook();
    expect((await renew(user, {})).json().message).toBe('Password is required');
    expect((await renew(user, { password: user.password, generateNewKey: false })).statusCode).toBe(400);
  });
});

describe('deleting', () => {
  // Requirements: accounts-validation-9, accounts-calls-8
  test('takes the password, and the key is unknown at once', async () => {
    const { client, hook, url, password } = await withHook();
    expect((await client.delete(url, { password: 'wrong' })).statusCode).toBe(403);
    expect((await client.delete(url)).statusCode).toBe(400);
    expect((await client.delete(url, { password })).statusCode).toBe(200);
    expect(await lookUp(hook.hookKey)).toBeNull();
    expect((await client.get('/api/hooks')).json()).toEqual([]);
    expect((await client.delete(url, { password })).statusCode).toBe(404);
    expect((await client.post('/api/hooks', {})).statusCode).toBe(201);
  });
});

// Requirements: accounts-roles-4
test("somebody else's webhook is not found, like one that does not exist", async () => {
  const owner = await withHook();
  const stranger = await withHook();
  const { password } = stranger;
  for (const id of [owner.hook.id, UNKNOWN_ID]) {
    const answers = [
      await stranger.client.put(`/api/hooks/${id}`, { generateNewKey: true, password }),
      await stranger.client.delete(`/api/hooks/${id}`, { password }),
      await stranger.client.get(`/api/hooks/${id}/deliveries`),
    ];
    for (const answer of answers) {
      expect(answer.statusCode).toBe(404);
      expect(answer.json()).toEqual({ message: 'Webhook not found' });
    }
  }
  expect(await lookUp(owner.hook.hookKey)).not.toBeNull();
});

// Requirements: webhook-deliveries-29
test('the last fifty deliveries come newest first', async () => {
  const { client, hook, url } = await withHook();
  await board.database.pool.query(
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
  });
  expect(list[49].receivedAt).toBe('2026-01-01T00:00:11.000Z');
});
