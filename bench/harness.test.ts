import { expect, test } from 'vitest';
import { atInterruption, cleanUp, requireRunning, withResource } from './harness.ts';

test('an interruption undoes in reverse order, waits for a resource still opening, and blocks new starts', async () => {
  const undone: string[] = [];
  atInterruption(() => undone.push('database'));
  const { promise: opening, resolve: open } = Promise.withResolvers<string>();
  const endless = () => new Promise<void>(() => {});
  void withResource({ open: () => opening, close: (name) => undone.push(name) }, endless);
  atInterruption(async () => {
    atInterruption(() => undone.push('added meanwhile'));
    throw new Error('it was gone already');
  });
  const forget = atInterruption(() => undone.push('ended before'));
  forget();
  expect(requireRunning).not.toThrow();
  const cleaning = cleanUp();
  open('program');
  await cleaning;
  expect(undone).toEqual(['added meanwhile', 'program', 'database']);
  expect(requireRunning).toThrow('The run was interrupted');
});
