import { PgBoss, TestClock } from 'pg-boss';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#server/platform/clock.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { startQueueWorkers } from './queue-workers.ts';

let own: TestDatabase;
let boss: PgBoss;
/** Stands still, so that only the tests cause what workers do. */
const clock = new TestClock();

beforeAll(async () => {
  own = await createTestDatabase();
  boss = new PgBoss({ ...own.database.connection, schema: 'jobs', schedule: false, clock });
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
    clock: systemClock,
    name,
    concurrency: 1,
    pollSeconds: NEVER_BY_THE_CLOCK,
    mostBeside: 0,
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
  // The worker looks again, and finds nothing.
  await clock.tick(1);
  await send(1);
  await busy.promise;
  for (const number of [2, 3, 4, 5]) await send(number);
  release.resolve();
  await expect.poll(() => handled.toSorted(), soon).toEqual([0, 1, 2, 3, 4, 5]);
  workers.stop();
});

/** A job counts as slow when the test says so. */
function slowJobs() {
  let slow = Promise.withResolvers<void>();
  return {
    isSlow: () => slow.promise,
    turnSlow() {
      slow.resolve();
      slow = Promise.withResolvers();
    },
  };
}

test('a job that gives its worker away and always fails is sent again ten times, then given up', async () => {
  const name = 'failing-jobs';
  const retryLimit = 10;
  await boss.createQueue(name, { retryLimit, retryDelay: 1, retryBackoff: true, retryDelayMax: 8 });
  const fails: PromiseWithResolvers<void>[] = [];
  const { isSlow, turnSlow } = slowJobs();
  const workers = await startQueueWorkers<{ number: number }>({
    boss,
    clock: systemClock,
    name,
    concurrency: 1,
    pollSeconds: NEVER_BY_THE_CLOCK,
    mostBeside: 2,
    isSlow,
    async handle() {
      const fail = Promise.withResolvers<void>();
      fails.push(fail);
      await fail.promise;
    },
  });
  await boss.insert(name, [{ data: { number: 1 }, priority: -7 }]);
  const waits: number[] = [];
  const waiting = async () =>
    (
      await own.database.pool.query<{ priority: number; rest: number }>(
        "select priority, extract(epoch from start_after - created_on)::float as rest from jobs.job where name = $1 and state = 'created'",
        [name],
      )
    ).rows;
  for (let run = 1; run <= 1 + retryLimit; run += 1) {
    workers.wakeOne();
    await expect.poll(() => fails.length, soon).toBe(run);
    turnSlow();
    await expect.poll(async () => (await activeOf(name)).length, soon).toBe(0);
    fails.at(-1)?.reject(new Error('failed'));
    await workers.idle();
    const next = await waiting();
    expect(next).toMatchObject(run <= retryLimit ? [{ priority: -7 }] : []);
    waits.push(...next.map(({ rest }) => rest));
    // The test does not wait for it.
    await own.database.pool.query("update jobs.job set start_after = '-infinity' where name = $1", [name]);
  }
  expect(waits).toEqual([1, 2, 4, 8, 8, 8, 8, 8, 8, 8]);
  await boss.offWork(name, { wait: true });
  workers.stop();
});

const activeOf = async (name: string) =>
  (await own.database.pool.query("select 1 from jobs.job where name = $1 and state = 'active'", [name])).rows;

test('a job that takes long gives its worker away, is waited for, and is sent again when it fails', async () => {
  const name = 'slow-jobs';
  await boss.createQueue(name);
  const ends = new Map<number, PromiseWithResolvers<void>>();
  const { isSlow, turnSlow } = slowJobs();
  const workers = await startQueueWorkers<{ number: number }>({
    boss,
    clock: systemClock,
    name,
    concurrency: 1,
    pollSeconds: NEVER_BY_THE_CLOCK,
    mostBeside: 2,
    isSlow,
    async handle({ number }) {
      const end = Promise.withResolvers<void>();
      ends.set(number, end);
      await end.promise;
    },
  });
  for (const number of [1, 2, 3, 4]) {
    await boss.insert(name, [{ data: { number } }]);
    workers.wakeOne();
    await expect.poll(() => ends.has(Math.min(number, 3)), soon).toBe(true);
    turnSlow();
  }
  // Two go on beside the worker, and the third holds it.
  expect([...ends.keys()]).toEqual([1, 2, 3]);
  ends.get(1)?.reject(new Error('failed'));
  const again = "from jobs.job where name = $1 and state = 'created' and data ->> 'number' = '1'";
  await expect
    .poll(async () => (await own.database.pool.query(`select 1 ${again}`, [name])).rowCount, soon)
    .toBe(1);
  await own.database.pool.query(`delete ${again}`, [name]);
  ends.get(3)?.resolve();
  await expect.poll(() => ends.has(4), soon).toBe(true);
  ends.get(4)?.resolve();
  let isIdle = false;
  const idle = workers.idle().then(() => {
    isIdle = true;
  });
  await boss.offWork(name, { wait: true });
  expect(isIdle).toBe(false);
  ends.get(2)?.resolve();
  await idle;
  workers.stop();
});
