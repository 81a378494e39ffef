import { expect, test } from 'vitest';
import { atInterruption, cleanUp, requireRunning, withResource } from './harness.ts';

test('an interruption undoes the last thing first, also what is still opening, and nothing starts any more', async () => {
  const undone: string[] = [];
  atInterruption(() => undone.push('database'));
  const { promise: opened, resolve } = Promise.withResolvers<string>();
  const opening = withResource({ open: () => opened, close: (what) => undone.push(what) }, async () => {});
  atInterruption(async () => {
    atInterruption(() => undone.push('added meanwhile'));
    resolve('program');
    throw new Error('it was gone already');
  });
  const forget = atInterruption(() => undone.push('ended before'));
  forget();
  expect(requireRunning).not.toThrow();
  await cleanUp();
  await opening;
  expect(undone).toEqual(['added meanwhile', 'program', 'database']);
  expect(requireRunning).toThrow('The run was interrupted');
});
