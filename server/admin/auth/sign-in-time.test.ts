import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_USERNAME, startTestApp, type TestApp, type TestUser } from '#test/app/test-app.ts';

let board: TestApp;
let inactive: TestUser;

beforeAll(async () => {
  board = await startTestApp();
  inactive = await board.createUser();
  await board.admin.patch(`/api/admin/users/${inactive.user.id}/deactivate`);
});
afterAll(() => board.close());

const ROUNDS = 9;

// Requirements: sign-in-and-sessions-2
test('a refusal takes as long for an unknown and an inactive user as for a wrong password', async () => {
  const attempts = {
    wrong: { username: ADMIN_USERNAME, password: 'wrong' },
    unknown: { username: 'nobody@example.com', password: 'wrong' },
    inactive: { username: inactive.username, password: inactive.password },
  };
  const timesMs: Record<keyof typeof attempts, number[]> = { wrong: [], unknown: [], inactive: [] };
  // In turns, so that a busy machine is busy for all of them alike; each round from an address of its own.
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of ['wrong', 'unknown', 'inactive'] as const) {
      const start = performance.now();
      const answer = await board.anonymous.post('/api/auth/login', attempts[kind], {
        remoteAddress: `192.0.2.${round + 1}`,
      });
      timesMs[kind].push(performance.now() - start);
      expect(answer.statusCode).toBe(401);
      expect(answer.json()).toEqual({ message: 'Invalid username or password' });
    }
  }
  const medians = Object.values(timesMs).map((times) => times.sort((a, b) => a - b)[4] ?? 0);
  // Without the hash a refusal is some ten times faster; equal work differs by far less than this.
  expect(Math.max(...medians)).toBeLessThan(Math.min(...medians) * 2.5);
});
