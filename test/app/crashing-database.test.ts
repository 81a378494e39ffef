import { expect, test } from 'vitest';
import { Crash, crashPoint, openCrashingDatabase } from './crashing-database.ts';
import { createTestDatabase } from './test-database.ts';

test('a process that dies leaves none of its code waiting for a connection', async () => {
  const { database, close } = await createTestDatabase();
  try {
    const own = openCrashingDatabase(database, crashPoint(1_000));
    for (let held = 0; held < own.pool.options.max; held += 1) await own.pool.connect();
    const waiting = own.pool.connect();
    await own.kill();
    await expect(waiting).rejects.toThrow(Crash);
  } finally {
    await close();
  }
});
