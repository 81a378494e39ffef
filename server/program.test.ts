import { expect, test } from 'vitest';
import { startTestApp, type TestAppOptions } from '#test/app/test-app.ts';

/** Sealing gives each new entry its sequence, for the last time when the program stops. */
async function unsealedAfter(options: TestAppOptions): Promise<number> {
  const board = await startTestApp(options);
  try {
    await board.stopProgram();
    const [row] = await board.query('select count(*)::int as count from audit_log where sequence is null');
    return row?.count;
  } finally {
    await board.close();
  }
}

test('runs a background part that its start named', async () => {
  expect(await unsealedAfter({ engine: true, background: ['audit sealing'] })).toBe(0);
});

test('runs no background part that its start did not name', async () => {
  expect(await unsealedAfter({ engine: true })).toBeGreaterThan(0);
});
