import { expect, test } from 'vitest';
import { atInterruption, cleanUp, requireRunning } from './cleanup.ts';

test('an interruption undoes what is there, the last first, and lets nothing more be started', async () => {
  const undone: string[] = [];
  atInterruption(() => undone.push('database'));
  atInterruption(async () => {
    atInterruption(() => undone.push('what was being started'));
    throw new Error('it was gone already');
  });
  const forget = atInterruption(() => undone.push('ended before'));
  forget();
  expect(requireRunning).not.toThrow();
  await cleanUp();
  expect(undone).toEqual(['what was being started', 'database']);
  expect(requireRunning).toThrow('The run was interrupted');
});
