/** Every case. */
import './account-guesses.test.ts';
import { expect, test } from 'vitest';
import { fakeClock } from '#test/app/fake-clock.ts';
import { startWorld } from '#test/world.ts';

const ADDRESSES = 1_000;
const ROUNDS = 10;
const AT_ONCE = 250;
const MOST_GUESSES = 15;
const HOME = '192.0.2.1';

// Only an evaluated guess is answered 401 (account-guesses.test.ts).
test('evaluates only fifteen of 10,000 guesses at one account from 1,000 addresses while the owner can sign in', async () => {
  const clock = fakeClock(new Date());
  const board = await startWorld({ config: { trustProxy: ['127.0.0.1'] }, clock });
  const login = async (username: string, password: string, address: string) => {
    const headers = { 'x-forwarded-for': address };
    return (await board.anonymous.post('/api/auth/login', { username, password }, { headers })).statusCode;
  };
  try {
    const { username, password } = await board.createUser();
    expect(await login(username, password, HOME)).toBe(200);
    const addresses = Array.from({ length: ADDRESSES }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
    const answers = new Map<number, number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let start = 0; start < ADDRESSES; start += AT_ONCE) {
        const some = addresses.slice(start, start + AT_ONCE);
        for (const status of await Promise.all(some.map((address) => login(username, 'wrong', address)))) {
          answers.set(status, (answers.get(status) ?? 0) + 1);
        }
      }
      expect(await login(username, password, HOME)).toBe(200);
      clock.advance(60_000);
    }
    const evaluated = answers.get(401) ?? 0;
    expect(evaluated).toBeGreaterThan(0);
    expect(evaluated).toBeLessThanOrEqual(MOST_GUESSES);
    // A busy server answers 503 instead of evaluating a guess.
    const turnedAway = (answers.get(429) ?? 0) + (answers.get(503) ?? 0);
    expect(evaluated + turnedAway).toBe(ADDRESSES * ROUNDS);
  } finally {
    await board.close();
  }
});
