import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { testClock } from '#test/app/fake-clock.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { timeOrderedId } from '../ids.ts';
import { createLog } from '../log.ts';
import { createJobs, type JobData, type JobHandlers, type Jobs, type JobWorkers, QUEUES } from './jobs.ts';

let own: TestDatabase;
const opened: JobWorkers[] = [];
const lines: string[] = [];

beforeAll(async () => {
  own = await createTestDatabase();
});
afterEach(async () => {
  for (const jobs of opened.splice(0)) await jobs.stop();
  await own.database.pool.query('delete from jobs.job');
});
afterAll(() => own.close());

async function openJobs(options: Partial<Parameters<typeof createJobs>[0]> = {}): Promise<JobWorkers> {
  const log = createLog({ level: 'info', destination: { write: (line) => lines.push(line) } });
  const jobs = await createJobs({ database: own.database, log, ...options });
  opened.push(jobs);
  return jobs;
}

type Task = JobData['run-workflow'];

const handlers = (handle: (task: Task) => Promise<void>): JobHandlers => ({
  'run-workflow': handle,
  'trade-wave': async () => {},
  'trade-user': async () => {},
  'advance-trade': async () => {},
});

/** Starts handling workflows; returns the ids of the handled ones. */
async function startRecording(...all: Jobs[]): Promise<string[]> {
  const handled: string[] = [];
  const record = handlers(async ({ workflowId }) => {
    handled.push(workflowId);
  });
  await Promise.all(all.map((jobs) => jobs.start(record)));
  return handled;
}

const workflow = (workflowId: string) => ({ workflowId });
const workflowUser = { workflowId: 'a workflow', userId: 'a user' };
const soon = { timeout: 20_000, interval: 20 };

test('sends a job with the commit of its transaction, and never after a rollback', async () => {
  const jobs = await openJobs();
  const handled = await startRecording(jobs);
  const { db, pool } = own.database;
  const failing = db.transaction(async (tx) => {
    await jobs.send(tx, 'run-workflow', workflow('rolled back'));
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  let handledBeforeCommit: string[] = [];
  await db.transaction(async (tx) => {
    await jobs.send(tx, 'run-workflow', workflow('committed'));
    const { rows } = await pool.query("select 1 from jobs.job where name = 'run-workflow'");
    expect(rows).toEqual([]);
    handledBeforeCommit = [...handled];
  });
  await expect.poll(() => handled, soon).toEqual(['committed']);
  expect(handledBeforeCommit).toEqual([]);
});

test('sends each of several jobs with its own delay', async () => {
  const jobs = await openJobs();
  const { db, pool } = own.database;
  const waits = new Map([
    ['one', 1_000],
    ['another', 2_500],
  ]);
  await jobs.send(db, 'run-workflow', []);
  await jobs.send(db, 'run-workflow', [...waits.keys()].map(workflow), {
    waitMs: ({ workflowId }) => waits.get(workflowId) ?? 0,
  });
  const { rows } = await pool.query(
    "select data ->> 'workflowId' as id, extract(epoch from start_after - created_on)::float * 1000 as ms from jobs.job",
  );
  expect(new Map(rows.map(({ id, ms }) => [id, ms]))).toEqual(waits);
});

test('handles all jobs of a list with their own data, and sends none for an empty list', async () => {
  const jobs = await openJobs();
  const ids = Array.from({ length: 50 }, (_, index) => `workflow ${String(index).padStart(2, '0')}`);
  await jobs.send(own.database.db, 'run-workflow', []);
  await jobs.send(own.database.db, 'run-workflow', ids.map(workflow));
  const handled = await startRecording(jobs);
  await expect.poll(() => handled.length, soon).toBe(ids.length);
  expect(handled.sort()).toEqual(ids);
  await expect
    .poll(() => jobs.activity(), soon)
    .toEqual({ activeJobs: 0, besideJobs: 0, completedJobs: ids.length, lastActivityAt: expect.any(Date) });
});

testEveryCase('counts a job that gave its worker away apart from those that hold a worker', async () => {
  const jobs = await openJobs();
  const release = Promise.withResolvers<void>();
  await jobs.start({ ...handlers(async () => {}), 'advance-trade': () => release.promise });
  const inWork = () => jobs.workers().find(({ name }) => name === 'advance-trade');
  const trades = Array.from({ length: 20 }, (_, index) => ({ tradeId: `trade ${index}` }));
  await jobs.send(own.database.db, 'advance-trade', trades);
  await expect.poll(inWork, soon).toMatchObject({ activeJobs: 0, besideJobs: 20, maxConcurrent: 16 });
  expect(jobs.activity()).toMatchObject({ activeJobs: 20, besideJobs: 20 });
  release.resolve();
  await expect.poll(inWork, soon).toMatchObject({ activeJobs: 0, besideJobs: 0, completedJobs: 20 });
});

test('does not handle a delayed job before its time', async () => {
  const clock = testClock();
  const jobs = await openJobs({ clock, queueClock: clock.queue, mostWorkers: 1 });
  const handled = await startRecording(jobs);
  await jobs.send(own.database.db, 'run-workflow', workflow('later'), { waitMs: 60_000 });
  await clock.advance(59_000);
  expect(handled).toEqual([]);
  await clock.advance(2_000);
  await expect.poll(() => handled, soon).toEqual(['later']);
});

// Requirements: order-execution-9
test('counts a delay from the database’s time, however far off the program’s clock is', async () => {
  const jobs = await openJobs();
  const { db, pool } = own.database;
  vi.setSystemTime(Date.now() - 3_600_000);
  try {
    await jobs.send(db, 'run-workflow', workflow('sent'), { waitMs: 1500 });
    await db.transaction((tx) => jobs.send(tx, 'trade-user', workflowUser, { waitMs: () => 1500 }));
    await jobs.sendMissing(db, 'advance-trade', [{ tradeId: 'missing' }], { waitMs: 1500 });
  } finally {
    vi.useRealTimers();
  }
  const { rows } = await pool.query(
    'select name, extract(epoch from start_after - created_on)::float as seconds from jobs.job order by name',
  );
  expect(rows).toEqual(
    ['advance-trade', 'run-workflow', 'trade-user'].map((name) => ({ name, seconds: 1.5 })),
  );
});

test('logs a job whose handler fails, and handles it again', async () => {
  const jobs = await openJobs();
  let tries = 0;
  await jobs.start(
    handlers(async () => {
      tries += 1;
      if (tries === 1) throw new Error('a passing fault');
    }),
  );
  await jobs.send(own.database.db, 'run-workflow', workflow('twice'));
  await expect.poll(() => tries, soon).toBe(2);
  const logged = lines.find((line) => line.includes('job failed'));
  expect(logged).toContain('a passing fault');
  expect(logged).toContain('twice');
  await expect.poll(() => jobs.activity().completedJobs, soon).toBe(1);
});

test('handles each job once when two instances share them', async () => {
  const [one, two] = [await openJobs(), await openJobs()];
  const handled = await startRecording(one, two);
  const ids = Array.from({ length: 40 }, (_, index) => `workflow ${String(index).padStart(2, '0')}`);
  await one.send(own.database.db, 'run-workflow', ids.map(workflow));
  const done = () => one.activity().completedJobs + two.activity().completedJobs;
  await expect.poll(done, soon).toBe(ids.length);
  expect(handled.sort()).toEqual(ids);
});

testEveryCase('looks after the queues between start and pause only', async () => {
  const supervise = vi.spyOn(PgBoss.prototype, 'supervise');
  const supervisors = () => supervise.mock.contexts;
  try {
    await openJobs();
    const paused = await openJobs();
    await startRecording(paused);
    await expect.poll(supervisors, soon).toHaveLength(2);
    await paused.pause(5_000);
    const callsBefore = supervisors().length;
    await startRecording(await openJobs());
    await expect.poll(() => supervisors().length, soon).toBeGreaterThanOrEqual(callsBefore + 2);
    // Not by the instance that never started, nor again by the paused one.
    expect(new Set(supervisors().slice(0, callsBefore)).size).toBe(1);
    expect(new Set(supervisors().slice(callsBefore)).size).toBe(1);
    expect(supervisors().at(-1)).not.toBe(supervisors()[0]);
  } finally {
    supervise.mockRestore();
  }
});

testEveryCase('finishes running jobs and takes no more when it stops', async () => {
  const [stopped, other] = [await openJobs(), await openJobs()];
  const finish = Promise.withResolvers<void>();
  const taken: string[] = [];
  await stopped.start(
    handlers(async ({ workflowId }) => {
      taken.push(workflowId);
      await finish.promise;
    }),
  );
  expect(stopped.isRunning()).toBe(true);
  await other.send(own.database.db, 'run-workflow', workflow('under way'));
  await vi.waitFor(() => expect(taken).toEqual(['under way']), soon);

  const stopping = stopped.stop();
  expect(stopped.isRunning()).toBe(false);
  finish.resolve();
  await stopping;
  expect(stopped.activity()).toMatchObject({ activeJobs: 0, completedJobs: 1 });

  const ids = Array.from({ length: 10 }, (_, index) => `after ${index}`);
  await other.send(own.database.db, 'run-workflow', ids.map(workflow));
  const handled = await startRecording(other);
  await expect.poll(() => handled.length, soon).toBe(ids.length);
  expect(taken).toEqual(['under way']);
});

test('handles the oldest workflow first, no matter when its job was sent', async () => {
  const jobs = await openJobs();
  const { db } = own.database;
  const idOf = (moment: string) => {
    const digits = new Date(moment).getTime().toString(16).padStart(12, '0');
    return `${digits.slice(0, 8)}-${digits.slice(8)}${timeOrderedId().slice(13)}`;
  };
  const byAge = Array.from({ length: 40 }, (_, second) =>
    idOf(new Date(Date.UTC(2026, 2, 4, 5, 6, second)).toISOString()),
  );
  for (const id of byAge.toReversed()) await jobs.send(db, 'run-workflow', workflow(id));
  const handled = await startRecording(jobs);
  await expect.poll(() => handled.length, soon).toBe(byAge.length);
  // Several are handled concurrently, and some of them finish sooner.
  const delays = handled.map((id, place) => Math.abs(place - byAge.indexOf(id)));
  expect(Math.max(...delays)).toBeLessThanOrEqual(2 * QUEUES['run-workflow'].concurrency);
});

test('handles the workflows of own signals after all others, in the order in which they were sent', async () => {
  const jobs = await openJobs();
  const { db } = own.database;
  const byAge = Array.from({ length: 12 }, () => timeOrderedId());
  const [old, young] = [byAge.slice(0, 6), byAge.slice(6)];
  for (const id of old.toReversed()) {
    await jobs.send(db, 'run-workflow', workflow(id), { isOwn: true });
  }
  await jobs.send(db, 'run-workflow', young.map(workflow), { isOwn: () => false });
  const { rows } = await own.database.pool.query<{ id: string }>(
    "select data ->> 'workflowId' as id from jobs.job where name = 'run-workflow' order by priority desc, created_on",
  );
  expect(rows.slice(0, 6).map(({ id }) => id)).toEqual(expect.arrayContaining(young));
  expect(rows.slice(6).map(({ id }) => id)).toEqual(old.toReversed());
});

test('does not send missing jobs that already wait', async () => {
  const jobs = await openJobs();
  const { db, pool } = own.database;
  const waiting = async () =>
    (
      await pool.query(
        "select data ->> 'workflowId' as id from jobs.job where name = 'run-workflow' order by 1",
      )
    ).rows;
  await jobs.send(db, 'run-workflow', [workflow('a'), workflow('b')]);
  for (let time = 0; time < 3; time += 1) {
    await jobs.sendMissing(db, 'run-workflow', [workflow('a'), workflow('b'), workflow('c')]);
  }
  expect(await waiting()).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
  // Calls of another kind do not count.
  await jobs.sendMissing(db, 'trade-user', [{ workflowId: 'a', userId: 'u' }]);
  expect(await waiting()).toHaveLength(3);
  const { rows } = await pool.query("select data from jobs.job where name = 'trade-user'");
  expect(rows).toEqual([{ data: { workflowId: 'a', userId: 'u' } }]);
});

test('updates the options of a queue that an earlier version created', async () => {
  await openJobs();
  const { pool } = own.database;
  const longest = async () =>
    (
      await pool.query('select distinct retry_delay_max as seconds from jobs.queue where name = any($1)', [
        Object.keys(QUEUES),
      ])
    ).rows;
  const asMade = await longest();
  expect(asMade).toEqual([{ seconds: expect.any(Number) }]);
  await pool.query('update jobs.queue set retry_delay_max = 3600');
  await openJobs();
  expect(await longest()).toEqual(asMade);
});

test('announces a job to the listening workers', async () => {
  const jobs = await openJobs();
  const listener = new pg.Client(own.database.connection);
  await listener.connect();
  try {
    const announced: (string | undefined)[] = [];
    listener.on('notification', ({ payload }) => announced.push(payload));
    const { rows } = await own.database.pool.query<{ query: string }>(
      "select query from pg_stat_activity where application_name = 'signal-board jobs' and datname = current_database()",
    );
    await listener.query(rows[0]?.query ?? '');
    await jobs.send(own.database.db, 'advance-trade', { tradeId: 'a trade' });
    await expect.poll(() => announced, soon).toEqual(['advance-trade']);
  } finally {
    await listener.end();
  }
});

test('works on as many jobs concurrently as there are workers', async () => {
  const jobs = await openJobs();
  const { concurrency } = QUEUES['run-workflow'];
  let underWay = 0;
  let most = 0;
  const all = Promise.withResolvers<void>();
  await jobs.start(
    handlers(async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      if (underWay === concurrency) all.resolve();
      await all.promise;
      underWay -= 1;
    }),
  );
  const ids = Array.from({ length: 2 * concurrency }, (_, index) => `workflow ${index}`);
  await jobs.send(own.database.db, 'run-workflow', ids.map(workflow));
  await expect.poll(() => jobs.activity().completedJobs, soon).toBe(ids.length);
  expect(most).toBe(concurrency);
});

test('receives announcements again after its connection was cut', async () => {
  const jobs = await openJobs();
  const handled = await startRecording(jobs);
  const listening = async () => {
    const { rows } = await own.database.pool.query<{ pid: number }>(
      "select pid from pg_stat_activity where application_name = 'signal-board jobs' and datname = current_database()",
    );
    return rows.map(({ pid }) => pid);
  };
  const [before] = await listening();
  await own.database.pool.query('select pg_terminate_backend($1)', [before]);
  await expect.poll(async () => (await listening()).filter((pid) => pid !== before), soon).toHaveLength(1);
  await jobs.send(own.database.db, 'run-workflow', workflow('later'));
  await expect.poll(() => handled, soon).toEqual(['later']);
});
