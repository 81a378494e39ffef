import { afterAll, describe, expect, test } from 'vitest';
import { generatePassword } from '#server/platform/password.ts';
import { type Answer, expectAnswer } from '#test/app/test-client.ts';
import { ADMIN_PASSWORD, startWorld, type World } from '#test/world.ts';
import { passwordFault } from './password-rules.ts';

const [board, live] = [
  await startWorld(),
  await startWorld({ config: { appEnv: 'production', exchangeMode: 'live' } }),
];
afterAll(async () => {
  await board.close();
  await live.close();
});

let created = 0;
const create = (app: World, password: string, fields: object = {}) => {
  created += 1;
  const username = `somebody${created}@example.com`;
  return app.admin.post('/api/admin/create-client', { username, password, ...fields });
};

const refused = (path: string, message: string) => ({ message, errors: [{ path, message }] });

function expectRefused(answer: Answer, path: string, message: string): void {
  expectAnswer(answer, 400, refused(path, message));
}

const COMMON = 'This is one of the most used passwords. Choose another one.';
const REPEATED = 'Password must not be one character repeated';
const NAME = 'Password must not be the username';

const WEAK: [string, string][] = [
  ['12345', 'Password must be at least 6 characters'],
  ['123456', COMMON],
  ['qwerty', COMMON],
  ['PassWord1', COMMON],
  ['changeme', COMMON],
  ['      ', REPEATED],
  ['🦊🦊🦊🦊🦊🦊', REPEATED],
  ['zzzzzzzzzzzzzzzzzzz', REPEATED],
];

describe('a new user', () => {
  test.each(WEAK)('cannot have the password %j', async (password, message) => {
    expectRefused(await create(board, password), 'password', message);
  });

  test('cannot use the username, or the part of it before the @', async () => {
    const username = 'Meredith@Example.com';
    for (const password of [
      'Meredith@Example.com',
      'meredith@EXAMPLE.com',
      'ｍeredith@example.com',
      'MEREDITH',
    ]) {
      expectRefused(await create(board, password, { username }), 'password', NAME);
    }
  });

  // Requirements: accounts-validation-11
  test('needs twelve characters only as an administrator', async () => {
    const message = 'The password of an administrator must be at least 12 characters';
    expectRefused(await create(board, 'eleven char', { isAdmin: true }), 'password', message);
    expect((await create(board, 'twelve chars', { isAdmin: true })).statusCode).toBe(201);
    expect((await create(board, 'six ch')).statusCode).toBe(201);
  });

  test('needs twelve characters in live mode', async () => {
    const message = 'Password must be at least 12 characters in live mode';
    expectRefused(await create(live, 'eleven char'), 'password', message);
    expect((await create(live, 'twelve chars')).statusCode).toBe(201);
  });
});

describe('a changed password', () => {
  const change = (client: World['admin'], currentPassword: string, newPassword: string) =>
    client.put('/api/user-settings/change-password', { currentPassword, newPassword });

  // Requirements: accounts-validation-11
  test('follows the same rules, and a refusal changes nothing', async () => {
    const { client, username, password } = await board.createUser();
    for (const [weak, message] of [...WEAK, [username.toUpperCase(), NAME] as const]) {
      expectRefused(await change(client, password, weak), 'newPassword', message);
    }
    expect((await board.signIn(username, password)).cookie).not.toBe('');
    expect((await change(client, password, 'six ch')).statusCode).toBe(200);
    await board.signIn(username, 'six ch');
  });

  test('must differ from the current one', async () => {
    const { client, password } = await board.createUser();
    const message = 'Password must not be the current one';
    expectRefused(await change(client, password, password), 'newPassword', message);
  });

  test('needs twelve characters for administrators, and for everybody in live mode', async () => {
    const administrator = 'The password of an administrator must be at least 12 characters';
    expectRefused(await change(board.admin, ADMIN_PASSWORD, 'eleven char'), 'newPassword', administrator);
    const { client, password } = await live.createUser();
    const everybody = 'Password must be at least 12 characters in live mode';
    expectRefused(await change(client, password, 'eleven char'), 'newPassword', everybody);
  });
});

test('a password set before these rules still signs in', async () => {
  const { user, username } = await board.createUser();
  const other = await board.createUser({ password: 'six ch' });
  await board.query(
    'update users set is_admin = true, password_hash = (select password_hash from users where id = $1) where id = $2',
    [other.user.id, user.id],
  );
  expect((await board.signIn(username, 'six ch')).cookie).not.toBe('');
});

test('accepts a generated password for everybody', async () => {
  const account = { username: 'admin@example.com', isAdmin: true, exchangeMode: 'live' } as const;
  expect(await passwordFault({ ...account, password: generatePassword() })).toBeNull();
});
