import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_USERNAME, startWorld, type World } from '#test/world.ts';

let board: World;

beforeAll(async () => {
  board = await startWorld();
});
afterAll(() => board.close());

const REFUSED = { message: 'Invalid username or password' };
const ROUNDS = 9;

test('refusing an unknown or inactive user takes as long as refusing a wrong password', async () => {
  const inactive = await board.createUser();
  await board.admin.patch(`/api/admin/users/${inactive.user.id}/deactivate`);
  const attempts = {
    wrong: { username: ADMIN_USERNAME, password: 'wrong' },
    unknown: { username: 'nobody@example.com', password: 'wrong' },
    inactive: { username: inactive.username, password: inactive.password },
  };
  const timesMs: Record<keyof typeof attempts, number[]> = { wrong: [], unknown: [], inactive: [] };
  // Interleaved, so that load on the machine affects all of them equally; each round uses its own address.
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of ['wrong', 'unknown', 'inactive'] as const) {
      const start = performance.now();
      const answer = await board.anonymous.post('/api/auth/login', attempts[kind], {
        remoteAddress: `192.0.2.${round + 1}`,
      });
      timesMs[kind].push(performance.now() - start);
      expect([answer.statusCode, answer.json()]).toEqual([401, REFUSED]);
    }
  }
  const medians = Object.values(timesMs).map((times) => times.sort((a, b) => a - b)[4] ?? 0);
  // Without hashing, a refusal is about ten times faster; equal work differs by far less than this factor.
  expect(Math.max(...medians)).toBeLessThan(Math.min(...medians) * 2.5);
});
