import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workflows } from '#server/platform/db/schema.ts';
import { acquireLease, handOverLeases, type Lease, LeaseLostError } from '#server/platform/jobs/leases.ts';
import { startTestEngine, type TestEngine } from '#test/app/test-engine.ts';
import { createStepJournal } from './step-journal.ts';
import type { StepStart } from './workflow-steps.store.ts';

let engine: TestEngine;
let count = 0;

beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(() => engine.close());

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, seconds));

async function openJournal() {
  count += 1;
  const { workflowId } = await engine.storeSignal({ token: `JOURNAL${count}`, price: '100' });
  const lease = await acquireLease({ db: engine.db, key: `journal:${count}`, holder: 'here' });
  const step = (stepNumber: number, startedAt: Date): StepStart => ({
    workflowId,
    stepNumber,
    stepName: `Step ${stepNumber}`,
    stepType: 'signal_validation',
    userId: null,
    inputData: { number: stepNumber },
    processorName: 'here',
    at: startedAt,
  });
  if (lease === null) throw new Error('somebody holds it');
  const journalOf = (of: Lease) => createStepJournal({ db: engine.db, lease: of });
  return { workflowId, lease, step, journalOf, journal: journalOf(lease) };
}

test('steps that are written down together stand there as they ended, with how long each took', async () => {
  const { workflowId, step, journal } = await openJournal();
  journal.begin(step(1, at(0)));
  journal.end({ status: 'completed', outputData: { valid: true }, at: at(1) });
  journal.begin(step(2, at(1)));
  journal.end({ status: 'failed', errorMessage: 'too old', at: at(3) });
  journal.begin(step(3, at(3)));
  journal.note({ waitingFor: 'another' });
  expect(await engine.steps(workflowId)).toEqual([]);
  await journal.writeDown();
  expect(await engine.steps(workflowId)).toMatchObject([
    {
      stepNumber: 1,
      status: 'completed',
      outputData: { valid: true },
      executionTimeMs: 1000,
      errorMessage: null,
    },
    { stepNumber: 2, status: 'failed', errorMessage: 'too old', executionTimeMs: 2000, completedAt: at(3) },
    { stepNumber: 3, status: 'processing', metadata: { waitingFor: 'another' }, completedAt: null },
  ]);
});

test('a step that was begun before a crash keeps its start, and one that has ended stays as it is', async () => {
  const { workflowId, lease, step, journal, journalOf } = await openJournal();
  journal.begin(step(1, at(0)));
  journal.end({ status: 'completed', outputData: 'first', at: at(1) });
  journal.begin(step(2, at(1)));
  await journal.writeDown();
  const next = journalOf(lease);
  next.begin(step(1, at(10)));
  next.end({ status: 'failed', errorMessage: 'second', at: at(11) });
  next.begin(step(2, at(11)));
  next.end({ status: 'completed', outputData: 'done', at: at(12) });
  await next.writeDown();
  expect(await engine.steps(workflowId)).toMatchObject([
    { status: 'completed', outputData: 'first', errorMessage: null, completedAt: at(1) },
    { status: 'completed', outputData: 'done', startedAt: at(1), executionTimeMs: 11_000 },
  ]);
});

test('a step that took longer than an integer can say in milliseconds ends, with the longest that it can say', async () => {
  const { workflowId, lease, step, journal, journalOf } = await openJournal();
  const later = at(30 * 24 * 3_600);
  journal.begin(step(1, at(0)));
  journal.end({ status: 'completed', at: later });
  journal.begin(step(2, at(1)));
  await journal.writeDown();
  const next = journalOf(lease);
  next.begin(step(2, later));
  next.end({ status: 'completed', at: later });
  await next.writeDown();
  expect(await engine.steps(workflowId)).toMatchObject([
    { status: 'completed', completedAt: later, executionTimeMs: 2_147_483_647 },
    { status: 'completed', completedAt: later, executionTimeMs: 2_147_483_647 },
  ]);
});

test('a journal whose lease went to somebody else writes neither its steps nor what goes with them', async () => {
  const { workflowId, step, journal } = await openJournal();
  const statusOf = async () =>
    (
      await engine.db.select({ status: workflows.status }).from(workflows).where(eq(workflows.id, workflowId))
    )[0];
  await handOverLeases(engine.db, 'here');
  journal.begin(step(1, at(0)));
  await expect(journal.writeDown()).rejects.toThrow(LeaseLostError);
  journal.alongside(async (tx) => {
    await tx.update(workflows).set({ status: 'failed' }).where(eq(workflows.id, workflowId));
  });
  await expect(journal.writeDown()).rejects.toThrow(LeaseLostError);
  expect(await engine.steps(workflowId)).toEqual([]);
  expect(await statusOf()).toEqual({ status: 'pending' });
});

test('what goes with the steps and fails leaves neither, and can be abandoned for the step that was under way', async () => {
  const { workflowId, step, journal } = await openJournal();
  journal.begin(step(1, at(0)));
  journal.end({ status: 'completed', at: at(1) });
  journal.begin(step(2, at(1)));
  journal.alongside(() => Promise.reject(new Error('a bug')));
  await expect(journal.writeDown()).rejects.toThrow('a bug');
  expect(await engine.steps(workflowId)).toEqual([]);
  expect(journal.abandon()).toMatchObject({ stepNumber: 2 });
  journal.end({ status: 'failed', errorMessage: 'a bug', at: at(2) });
  await journal.writeDown();
  expect(await engine.steps(workflowId)).toMatchObject([
    { stepNumber: 1, status: 'completed' },
    { stepNumber: 2, status: 'failed', executionTimeMs: 1000 },
  ]);
});

test('what had ended before the step that failed stays ended, and no step is left under way', async () => {
  const { workflowId, step, journal } = await openJournal();
  journal.begin(step(1, at(0)));
  await journal.writeDown();
  journal.end({ status: 'completed', outputData: 'slot', at: at(1) });
  journal.begin(step(2, at(1)));
  journal.alongside(() => Promise.reject(new Error('a bug')));
  journal.end({ status: 'completed', at: at(2) });
  journal.begin(step(3, at(2)));
  expect(journal.abandon()).toMatchObject({ stepNumber: 3 });
  journal.end({ status: 'failed', errorMessage: 'a bug', at: at(3) });
  await journal.writeDown();
  expect(await engine.steps(workflowId)).toMatchObject([
    { stepNumber: 1, status: 'completed', outputData: 'slot' },
    { stepNumber: 3, status: 'failed', errorMessage: 'a bug' },
  ]);
});

test('work goes on while the steps before it are written down, and is answered when both have ended', async () => {
  const { workflowId, step, journal } = await openJournal();
  journal.begin(step(1, at(0)));
  const seen = await journal.writeDownDuring(async () => {
    for (;;) {
      const steps = await engine.steps(workflowId);
      if (steps.length > 0) return steps.map(({ status }) => status);
    }
  });
  expect(seen).toEqual(['processing']);
  journal.end({ status: 'completed', at: at(1) });
  await journal.writeDown();
  expect(await engine.steps(workflowId)).toMatchObject([{ stepNumber: 1, status: 'completed' }]);
});

test('for work that is done at once nothing is written: it goes with what comes next', async () => {
  const { workflowId, step, journal } = await openJournal();
  journal.begin(step(1, at(0)));
  expect(await journal.writeDownDuring(async () => 'done')).toBe('done');
  expect(await engine.steps(workflowId)).toEqual([]);
  journal.end({ status: 'completed', at: at(1) });
  await journal.writeDown();
  expect(await engine.steps(workflowId)).toMatchObject([{ stepNumber: 1, status: 'completed' }]);
});

test('what is written down last gives the lease back with it', async () => {
  const { workflowId, step, journal, lease } = await openJournal();
  journal.begin(step(1, at(0)));
  journal.end({ status: 'completed', at: at(1) });
  journal.alongside(async () => {});
  await journal.writeLast();
  expect(await engine.steps(workflowId)).toHaveLength(1);
  expect(await acquireLease({ db: engine.db, key: lease.key, holder: 'there' })).not.toBeNull();
});

test('work that fails beside the writing leaves the steps written, and its error is heard of', async () => {
  const { workflowId, step, journal } = await openJournal();
  journal.begin(step(1, at(0)));
  await expect(journal.writeDownDuring(() => Promise.reject(new Error('a bug')))).rejects.toThrow('a bug');
  expect(await engine.steps(workflowId)).toMatchObject([{ stepNumber: 1, status: 'processing' }]);
});

test('a lease that went to somebody else is heard of when the work beside the writing has ended', async () => {
  const { step, journal } = await openJournal();
  await handOverLeases(engine.db, 'here');
  journal.begin(step(1, at(0)));
  let isDone = false;
  const working = journal.writeDownDuring(async () => {
    await engine.db.execute('select pg_sleep(0.1)');
    isDone = true;
    throw new Error('what came of it');
  });
  await expect(working).rejects.toThrow(LeaseLostError);
  expect(isDone).toBe(true);
});
