import { setTimeout as sleep } from 'node:timers/promises';
import { PgBoss } from 'pg-boss';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { startQueueWorkers } from './queue-workers.ts';

let own: TestDatabase;
let boss: PgBoss;

beforeAll(async () => {
  own = await createTestDatabase();
  boss = new PgBoss({ ...own.database.connection, schema: 'jobs', schedule: false });
  boss.on('error', () => {});
  await boss.start();
});
afterAll(async () => {
  await boss.stop({ graceful: false });
  await own.close();
});

const NEVER_BY_THE_CLOCK = 3_600;
const soon = { timeout: 15_000, interval: 20 };

test('takes up jobs that arrive while all workers are busy, without another wake-up', async () => {
  const name = 'of-the-test';
  await boss.createQueue(name);
  const busy = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const handled: number[] = [];
  const workers = await startQueueWorkers<{ number: number }>({
    boss,
    name,
    concurrency: 1,
    pollSeconds: NEVER_BY_THE_CLOCK,
    async handle({ number }) {
      handled.push(number);
      if (number !== 1) return;
      busy.resolve();
      await release.promise;
    },
  });
  const send = async (number: number) => {
    await boss.insert(name, [{ data: { number } }]);
    workers.wakeOne();
  };
  await send(0);
  await expect.poll(() => handled, soon).toEqual([0]);
  // The worker has looked again since and found nothing: only this test causes its further actions.
  await sleep(1_000);
  await send(1);
  await busy.promise;
  for (const number of [2, 3, 4, 5]) await send(number);
  release.resolve();
  await expect.poll(() => handled.toSorted(), soon).toEqual([0, 1, 2, 3, 4, 5]);
  workers.stop();
});
