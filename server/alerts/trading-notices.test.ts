import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '#test/world.ts';

let board: World;
beforeAll(async () => {
  board = await startWorld();
});
afterAll(() => board.close());

// Requirements: additions-alerts-7
test('a stop of new entries and its end are noted, for the user whom it concerns', async () => {
  const { user, username } = await board.createUser();
  await board.query('delete from notice_events');
  const made = await board.admin.post('/api/trading-stops', {
    scope: { kind: 'user', value: user.id },
    reason: 'holiday',
  });
  expect([200, 201], made.body).toContain(made.statusCode);
  const { id } = made.json<{ id: string }>();
  expect((await board.admin.delete(`/api/trading-stops/${id}`)).statusCode).toBe(204);
  const events = await board.query('select code, user_id as "userId", data from notice_events order by id');
  expect(events).toMatchObject([
    { code: 'stop_set', userId: user.id, data: { by: 'admin@example.com', reason: 'holiday' } },
    { code: 'stop_lifted', userId: user.id, data: { by: 'admin@example.com' } },
  ]);
  expect(events[0]?.data.scope).toContain(username);
});
