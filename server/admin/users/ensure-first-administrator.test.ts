import { afterAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#server/platform/clock.ts';
import { parseConfig } from '#server/platform/config/config.ts';
import { createLog } from '#server/platform/log.ts';
import { verifyPassword } from '#server/platform/password.ts';
import { auditTrailOf } from '#test/app/test-audit.ts';
import { createTestDatabase } from '#test/app/test-database.ts';
import { ensureFirstAdministrator } from './ensure-first-administrator.ts';
import { countUsers, findUserByKey } from './users.store.ts';

let lines: string[];

const own = await createTestDatabase();
beforeEach(async () => {
  await own.database.pool.query('truncate users cascade');
  lines = [];
});
afterAll(() => own.close());

const ensure = (env: Record<string, string> = {}) =>
  ensureFirstAdministrator({
    config: parseConfig(env),
    audit: auditTrailOf(own.database.db),
    clock: systemClock,
    db: own.database.db,
    log: createLog({ level: 'trace', destination: { write: (line) => lines.push(line) } }),
  });

test.each([
  ['123456', 'This is one of the most used passwords. Choose another one.'],
  ['eleven char', 'The password of an administrator must be at least 12 characters'],
  ['admin@example.com', 'Password must not be the username'],
  ['aaaaaaaaaaaaaaaa', 'Password must not be one character repeated'],
])('refuses the first start with ADMIN_PASSWORD %j and says why', async (password, words) => {
  await expect(ensure({ ADMIN_PASSWORD: password })).rejects.toThrow(
    `ADMIN_PASSWORD is not accepted: ${words}`,
  );
  expect(await countUsers(own.database.db, { includeInactive: true })).toBe(0);
});

// Requirements: settings-of-the-program-6
test('creates an administrator in an empty database, with a generated password that is shown once and never logged', async () => {
  const first = await ensure();
  expect(first).toEqual({
    username: 'admin@example.com',
    password: expect.stringMatching(/^([a-z2-9]{5}-){3}[a-z2-9]{5}$/),
  });
  const user = await findUserByKey(own.database.db, 'admin@example.com');
  expect(user).toMatchObject({ isAdmin: true, isActive: true, isTestUser: true });
  expect(await verifyPassword(user?.passwordHash ?? null, first?.password ?? '')).toBe(true);
  expect(lines.join('')).not.toContain(first?.password);
  expect(await ensure({ ADMIN_PASSWORD: '123456' }), 'a later start ignores ADMIN_PASSWORD').toBeNull();
});

// Requirements: settings-of-the-program-6
test('uses ADMIN_PASSWORD without showing it', async () => {
  const first = await ensure({ ADMIN_USERNAME: 'Owner@Example.com', ADMIN_PASSWORD: 'from outside' });
  expect(first).toEqual({ username: 'Owner@Example.com', password: null });
  const user = await findUserByKey(own.database.db, 'owner@example.com');
  expect(await verifyPassword(user?.passwordHash ?? null, 'from outside')).toBe(true);
});

// Requirements: settings-of-the-program-6
test('one of several instances that start together creates the administrator', async () => {
  const results = await Promise.all([ensure(), ensure(), ensure(), ensure()]);
  expect(results.filter((result) => result !== null)).toHaveLength(1);
  expect(await countUsers(own.database.db, { includeInactive: true })).toBe(1);
});
