import { afterAll, describe, expect, test } from 'vitest';
import type { User } from '#contract/users.ts';
import { startWorld } from '#test/world.ts';

const PEOPLE = [
  { username: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' },
  { username: 'grace@example.com', firstName: 'Grace', lastName: 'Hopper', isAdmin: true },
  { username: 'edsger_w@example.com', lastName: 'dijkstra' },
  { username: 'edsgerxw@example.com', countryCode: '+31', mobileNumber: '206123456' },
  { username: '100%@example.com', firstName: 'Émilie', lastName: 'du Châtelet' },
];

const board = await startWorld();
// One after the other, because the tests check the order of creation.
for (const person of PEOPLE) {
  await board.admin.post('/api/admin/create-client', { password: 'a long password', ...person });
}
const { users } = await find({ search: 'grace' });
await board.admin.patch(`/api/admin/users/${users[0]?.id}/deactivate`);
const ada = (await find({ search: 'ada@' })).users[0];
await board.setTrading(ada?.id ?? '', true);
afterAll(() => board.close());

async function find(query: Record<string, string>) {
  const params = new URLSearchParams({ page: '1', includeInactive: 'true', ...query });
  const answer = await board.admin.get(`/api/admin/users?${params}`);
  expect(answer.statusCode).toBe(200);
  return answer.json<{ users: User[]; total: number }>();
}

/** The names before the @, in response order. */
const namesOf = async (query: Record<string, string>) =>
  (await find(query)).users.map(({ username }) => username.split('@')[0]);

describe('a search', () => {
  test.each([
    ['part of a username', 'dsger_', ['edsger_w']],
    ['another letter case', 'ADA@EXAMPLE', ['ada']],
    ['a first name', 'grace', ['grace']],
    ['a last name', 'Dijk', ['edsger_w']],
    ['both names in a row', 'ada love', ['ada']],
    ['letters beyond ASCII in another case', 'émilie DU CHÂT', ['100%']],
    ['a phone number', '206123', ['edsgerxw']],
    ['a phone number with its country code', '+31206', ['edsgerxw']],
    ['a phone number as the table shows it', '+31 206123456', ['edsgerxw']],
    ['a percent sign, which is no wildcard', '0%', ['100%']],
    ['an underscore, which is no wildcard', 'r_w', ['edsger_w']],
    ['a backslash, which escapes nothing', '\\', []],
    ['quotes, which end nothing', `' or 1=1 --`, []],
    ['spaces around it', '  ada@  ', ['ada']],
    ['something that nobody has', 'nobody at all', []],
  ])('finds users by %s', async (_name, search, expected) => {
    expect(await namesOf({ search })).toEqual(expected);
    expect((await find({ search })).total).toBe(expected.length);
  });

  test('that is empty or blank filters nothing', async () => {
    const { total } = await find({});
    expect(total).toBe(PEOPLE.length + 1);
    expect((await find({ search: '' })).total).toBe(total);
    expect((await find({ search: '  ' })).total).toBe(total);
  });

  // Requirements: screens-users-5
  test('leaves inactive users out of rows and total unless requested', async () => {
    const answer = await find({ search: 'grace', includeInactive: 'false' });
    expect(answer).toEqual({ users: [], total: 0 });
  });

  test('counts all matches, not only those on the page', async () => {
    const page = await find({ search: '@example.com', limit: '2', page: '2' });
    expect(page.users).toHaveLength(2);
    expect(page.total).toBe(PEOPLE.length + 1);
  });

  test('without paging searches all users, including inactive ones', async () => {
    const { users, total } = (await board.admin.get('/api/admin/users?search=grace')).json();
    expect(users).toMatchObject([{ username: 'grace@example.com', isActive: false }]);
    expect(total).toBe(1);
  });
});

describe('the order of users', () => {
  const newestFirst = ['100%', 'edsgerxw', 'edsger_w', 'grace', 'ada', 'admin'];

  const byUsername = ['100%', 'ada', 'admin', 'edsger_w', 'edsgerxw', 'grace'];

  test.each<[string, Record<string, string>, string[]]>([
    ['newest first', {}, newestFirst],
    ['newest first without a column', { direction: 'asc' }, newestFirst],
    ['by creation', { sort: 'createdAt' }, newestFirst.toReversed()],
    ['by creation, descending', { sort: 'createdAt', direction: 'desc' }, newestFirst],
    ['by username', { sort: 'username' }, byUsername],
    ['by username, descending', { sort: 'username', direction: 'desc' }, byUsername.toReversed()],
    // Letter case is ignored, and users without a name come last in both directions.
    ['by name', { sort: 'name' }, ['ada', 'edsger_w', 'grace', '100%', 'edsgerxw', 'admin']],
    [
      'by name, descending',
      { sort: 'name', direction: 'desc' },
      ['100%', 'grace', 'edsger_w', 'ada', 'edsgerxw', 'admin'],
    ],
    // Equal users stay newest first.
    ['by status', { sort: 'isActive' }, ['grace', '100%', 'edsgerxw', 'edsger_w', 'ada', 'admin']],
    [
      'by active trading, descending',
      { sort: 'activeTrading', direction: 'desc' },
      ['ada', '100%', 'edsgerxw', 'edsger_w', 'grace', 'admin'],
    ],
  ])('is %s', async (_name, query, expected) => {
    expect(await namesOf(query)).toEqual(expected);
  });

  test('is stable across pages: each of many equal users is shown once', async () => {
    await board.query(`update users set created_at = '2026-01-01T00:00:00Z'`);
    for (const sort of ['isActive', 'createdAt', 'activeTrading']) {
      const pages = [];
      for (const page of ['1', '2', '3']) pages.push(...(await namesOf({ sort, limit: '2', page })));
      expect(new Set(pages).size, sort).toBe(PEOPLE.length + 1);
    }
  });

  test.each([
    'sort=passwordHash',
    'sort=id',
    'sort=',
    'direction=up',
    'sort=name&sort=username',
    `search=${'a'.repeat(101)}`,
  ])('refuses ?%s', async (query) => {
    expect((await board.admin.get(`/api/admin/users?page=1&${query}`)).statusCode).toBe(400);
  });
});
