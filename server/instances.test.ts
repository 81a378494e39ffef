import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ADMIN,
  call,
  instances,
  NAMES,
  query,
  signIn,
  startInstances,
  stopInstances,
} from '#test/world/processes.ts';

beforeAll(startInstances);
afterAll(stopInstances);

test('instances that start together make the tables once and create one administrator', async () => {
  expect(await query('select username from users')).toEqual([{ username: ADMIN.username }]);
  expect(
    await query(
      'select count(*)::integer as n, count(distinct hash)::integer as d from drizzle.__drizzle_migrations',
    ),
  ).toEqual(
    await query('select count(*)::integer as n, count(*)::integer as d from drizzle.__drizzle_migrations'),
  );
});

test('a session, its end and the limit of failed passwords hold at every instance', async () => {
  const [one, two] = NAMES.map((name) => instances.get(name)?.url ?? '');
  const cookie = await signIn(one);
  expect((await call('/api/signals', { cookie, at: two })).status).toBe(200);
  await call('/api/auth/logout', { cookie, body: {}, at: two });
  expect((await call('/api/signals', { cookie, at: one })).status).toBe(401);
  const guess = (at: string | undefined) =>
    call('/api/auth/login', { body: { username: 'nobody@example.com', password: 'wrong one' }, at });
  for (let n = 0; n < 10; n += 1) expect((await guess(n % 2 === 0 ? one : two)).status).toBe(401);
  expect((await guess(one)).status).toBe(429);
  expect((await guess(two)).status).toBe(429);
});
