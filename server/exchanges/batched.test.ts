import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { batched } from './batched.ts';

const turn = () => sleep(5);

/** Batches of words that the test answers one by one. */
function recorded(everyMs = 0) {
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
    { everyMs },
  );
  return { ask, batches, answer: () => ends.shift()?.answer(), fail: () => ends.shift()?.fail() };
}

test('calls during a batch share the next one, and each gets its own result', async () => {
  const { ask, batches, answer } = recorded();
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
  const { ask, batches, answer } = recorded(60_000);
  const first = ask('a');
  await turn();
  answer();
  await first;
  void ask('b');
  await turn();
  expect(batches).toEqual([['a']]);
});

test('a failed batch rejects for its callers, and the next one runs', async () => {
  const { ask, batches, answer, fail } = recorded();
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
