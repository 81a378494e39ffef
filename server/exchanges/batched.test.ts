import { expect, test } from 'vitest';
import { testClock } from '#test/app/fake-clock.ts';
import { batched } from './batched.ts';

/** Batches of words that the test answers one by one. */
function recorded(everyMs?: number) {
  const clock = testClock();
  const batches: string[][] = [];
  const ends: { answer: () => void; fail: () => void }[] = [];
  const ask = batched<string, string>(
    (words) => {
      batches.push(words);
      return new Promise((resolve, reject) =>
        ends.push({
          answer: () => resolve(words.map((word) => word.toUpperCase())),
          fail: () => reject(new Error('no database')),
        }),
      );
    },
    everyMs === undefined ? undefined : { everyMs, clock },
  );
  return {
    ask,
    batches,
    pass: clock.advance,
    turn: clock.idle,
    answer: () => ends.shift()?.answer(),
    fail: () => ends.shift()?.fail(),
  };
}

test('calls during a batch share the next one, and each gets its own result', async () => {
  const { ask, batches, turn, answer } = recorded();
  const first = ask('a');
  await turn();
  const later = [ask('b'), ask('c'), ask('b')];
  await turn();
  expect(batches).toEqual([['a']]);
  answer();
  expect(await first).toBe('A');
  await turn();
  expect(batches).toEqual([['a'], ['b', 'c', 'b']]);
  answer();
  expect(await Promise.all(later)).toEqual(['B', 'C', 'B']);
});

test('the first batch starts immediately, the next one after its pause', async () => {
  const { ask, batches, turn, pass, answer } = recorded(60_000);
  const first = ask('a');
  await turn();
  answer();
  await first;
  void ask('b');
  await pass(59_999);
  expect(batches).toEqual([['a']]);
  await pass(1);
  expect(batches).toEqual([['a'], ['b']]);
});

test('a failed batch rejects for its callers, and the next one runs', async () => {
  const { ask, batches, turn, answer, fail } = recorded();
  const first = ask('a');
  await turn();
  const second = ask('b');
  fail();
  await expect(first).rejects.toThrow('no database');
  await turn();
  expect(batches).toHaveLength(2);
  answer();
  expect(await second).toBe('B');
});
