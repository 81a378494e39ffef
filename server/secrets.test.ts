import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Webhook } from '#contract/hooks.ts';
import { createRefusals } from '#test/app/refused-writes.ts';
import { ADMIN_PASSWORD, ADMIN_USERNAME, startWorld, type World } from '#test/world.ts';

let board: World;
const canaries = new Map<string, string>();

/** Sends every kind of secret, including in refusals and failures. */
beforeAll(async () => {
  board = await startWorld();
  const settings = await createRefusals(board.database.pool, 'user_settings');
  canaries.set('password of the administrator', ADMIN_PASSWORD);
  canaries.set('session of the administrator', board.admin.cookie.slice('sid='.length));

  const { client, username, password, user } = await board.createUser({ password: 'canary-password-1' });
  canaries.set('password', password);
  canaries.set('session', client.cookie.slice('sid='.length));
  const hook = (await client.post('/api/hooks', {})).json<Webhook>();
  canaries.set('webhook key', hook.hookKey);

  await client.post('/api/auth/verify-password', { password });
  await client.get('/api/hooks');
  for (const path of ['trading_view_signal', 'trading_view_candler', 'nothing']) {
    await board.anonymous.post(`/hooks/${path}?hkid=${hook.hookKey}`, { symbol: 'BTCUSDT' });
  }
  await board.anonymous.get(`/hooks/trading_view_signal?hkid=${hook.hookKey}`);
  await board.anonymous.get(`/hooks/%00?hkid=${hook.hookKey}`);

  const wrong = { currentPassword: 'canary-password-2', newPassword: 'canary-password-3' };
  await client.put('/api/user-settings/change-password', wrong);
  await client.put('/api/user-settings/change-password', { ...wrong, currentPassword: password });
  canaries.set('wrong password', wrong.currentPassword);
  canaries.set('new password', wrong.newPassword);

  await board.anonymous.post('/api/auth/login', {
    username: 'canary-typed-as-username',
    password: 'canary-password-4',
  });
  canaries.set('password typed as username', 'canary-typed-as-username');
  canaries.set('password of a refused sign-in', 'canary-password-4');
  await board.anonymous.post('/api/auth/login', { username, password: 5, apiSecret: 'canary-field' });
  canaries.set('field of a refused body', 'canary-field');

  const again = await board.signIn(username, wrong.newPassword);
  canaries.set('session after the change', again.cookie.slice('sid='.length));
  const renewed = await again.put(`/api/hooks/${hook.id}`, {
    generateNewKey: true,
    password: wrong.newPassword,
  });
  canaries.set('renewed webhook key', renewed.json<Webhook>().hookKey);
  await board.admin.post('/api/admin/create-client', { username, password: 'canary-password-5' });
  canaries.set('password of a refused user', 'canary-password-5');

  // A database failure in the middle of the queries that carry secrets.
  await settings.refuse();
  const failed = await board.admin.post('/api/admin/create-client', {
    username: 'failed@example.com',
    password: 'canary-password-6',
  });
  expect(failed.statusCode).toBe(500);
  await settings.allow();
  canaries.set('password of a failed user', 'canary-password-6');
  await board.admin.patch(`/api/admin/users/${user.id}/deactivate`);
});
afterAll(() => board.close());

test('keeps secrets out of the log', () => {
  const log = board.logged();
  expect(log).toContain('signed in');
  expect(log).toContain('sign-in failed');
  expect(log).toContain('password check failed');
  expect(log).toContain('password changed');
  expect(log).toContain('request failed');
  expect(canaries.size).toBeGreaterThan(10);
  for (const [name, canary] of canaries) {
    expect(canary.length, name).toBeGreaterThan(10);
    expect(log.includes(canary), name).toBe(false);
  }
  expect(log).not.toContain('$argon2id$');
});

test('stores no secret in plain text in the database', async () => {
  const { rows: tables } = await board.database.pool.query<{ name: string }>(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'paper')",
  );
  expect(tables.map(({ name }) => name)).toContain('public.sessions');
  for (const { name: table } of tables) {
    const { rows } = await board.database.pool.query(`select t::text as row from ${table} as t`);
    const dump = JSON.stringify(rows);
    for (const [name, canary] of canaries) expect(dump.includes(canary), `${name} in ${table}`).toBe(false);
  }
});

test('names the user only by id in audit lines', () => {
  expect(board.logged()).not.toContain(`"username":"${ADMIN_USERNAME}"`);
});
