import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { workflows } from '#server/platform/db/schema.ts';
import { acquireLease, handOverLeases, LeaseLostError } from '#server/platform/jobs/leases.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { nextToken } from '#test/app/token-holders.ts';
import { createStepJournal } from './step-journal.ts';
import type { StepStart } from './workflow-steps.store.ts';

const engine = sharedTestEngine({ settles: false });

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, seconds));

async function openJournal() {
  const { workflowId } = await engine.storeSignal({ token: nextToken(), price: '100' });
  const lease = await acquireLease({ db: engine.db, key: `journal:${workflowId}`, holder: 'here' });
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
  if (lease === null) throw new Error('the lease is held');
  const newJournal = () => createStepJournal({ db: engine.db, lease });
  const written = () => engine.steps(workflowId);
  return { workflowId, lease, step, written, newJournal, journal: newJournal() };
}

test('writes ended steps together, each with its duration', async () => {
  const { step, written, journal } = await openJournal();
  journal.begin(step(1, at(0)));
  journal.end({ status: 'completed', outputData: { valid: true }, at: at(1) });
  journal.begin(step(2, at(1)));
  journal.end({ status: 'failed', errorMessage: 'too old', at: at(3) });
  journal.begin(step(3, at(3)));
  journal.note({ waitingFor: 'another' });
  expect(await written()).toEqual([]);
  await journal.writeDown();
  expect(await written()).toMatchObject([
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

test('keeps the start of a step begun before a crash, and does not change an ended step', async () => {
  const { step, written, journal, newJournal } = await openJournal();
  journal.begin(step(1, at(0)));
  journal.end({ status: 'completed', outputData: 'first', at: at(1) });
  journal.begin(step(2, at(1)));
  await journal.writeDown();
  const next = newJournal();
  next.begin(step(1, at(10)));
  next.end({ status: 'failed', errorMessage: 'second', at: at(11) });
  next.begin(step(2, at(11)));
  next.end({ status: 'completed', outputData: 'done', at: at(12) });
  await next.writeDown();
  expect(await written()).toMatchObject([
    { status: 'completed', outputData: 'first', errorMessage: null, completedAt: at(1) },
    { status: 'completed', outputData: 'done', startedAt: at(1), executionTimeMs: 11_000 },
  ]);
});

test('caps the duration of a step at the largest integer of milliseconds', async () => {
  const { step, written, journal, newJournal } = await openJournal();
  const later = at(30 * 24 * 3_600);
  journal.begin(step(1, at(0)));
  journal.end({ status: 'completed', at: later });
  journal.begin(step(2, at(1)));
  await journal.writeDown();
  const next = newJournal();
  next.begin(step(2, later));
  next.end({ status: 'completed', at: later });
  await next.writeDown();
  expect(await written()).toMatchObject([
    { status: 'completed', completedAt: later, executionTimeMs: 2_147_483_647 },
    { status: 'completed', completedAt: later, executionTimeMs: 2_147_483_647 },
  ]);
});

test('writes neither steps nor their accompanying writes when the lease was taken over', async () => {
  const { workflowId, step, written, journal } = await openJournal();
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
  expect(await written()).toEqual([]);
  expect(await statusOf()).toEqual({ status: 'pending' });
});

test('writes nothing when an accompanying write fails, and can end the current step without it', async () => {
  const { step, written, journal } = await openJournal();
  journal.begin(step(1, at(0)));
  journal.end({ status: 'completed', at: at(1) });
  journal.begin(step(2, at(1)));
  journal.alongside(() => Promise.reject(new Error('a bug')));
  await expect(journal.writeDown()).rejects.toThrow('a bug');
  expect(await written()).toEqual([]);
  expect(journal.abandon()).toMatchObject({ stepNumber: 2 });
  journal.end({ status: 'failed', errorMessage: 'a bug', at: at(2) });
  await journal.writeDown();
  expect(await written()).toMatchObject([
    { stepNumber: 1, status: 'completed' },
    { stepNumber: 2, status: 'failed', executionTimeMs: 1000 },
  ]);
});

test('keeps steps that ended before the failed one, and leaves none in progress', async () => {
  const { step, written, journal } = await openJournal();
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
  expect(await written()).toMatchObject([
    { stepNumber: 1, status: 'completed', outputData: 'slot' },
    { stepNumber: 3, status: 'failed', errorMessage: 'a bug' },
  ]);
});

test('writes steps while other work runs, and resolves when both have ended', async () => {
  const { step, written, journal } = await openJournal();
  journal.begin(step(1, at(0)));
  const seen = await journal.writeDownDuring(async () => {
    for (;;) {
      const steps = await written();
      if (steps.length > 0) return steps.map(({ status }) => status);
    }
  });
  expect(seen).toEqual(['processing']);
  journal.end({ status: 'completed', at: at(1) });
  await journal.writeDown();
  expect(await written()).toMatchObject([{ stepNumber: 1, status: 'completed' }]);
});

test('writes nothing for work that ends immediately', async () => {
  const { step, written, journal } = await openJournal();
  journal.begin(step(1, at(0)));
  expect(await journal.writeDownDuring(async () => 'done')).toBe('done');
  expect(await written()).toEqual([]);
  journal.end({ status: 'completed', at: at(1) });
  await journal.writeDown();
  expect(await written()).toMatchObject([{ stepNumber: 1, status: 'completed' }]);
});

test('releases the lease with the last write', async () => {
  const { step, written, journal, lease } = await openJournal();
  journal.begin(step(1, at(0)));
  journal.end({ status: 'completed', at: at(1) });
  journal.alongside(async () => {});
  await journal.writeLast();
  expect(await written()).toHaveLength(1);
  expect(await acquireLease({ db: engine.db, key: lease.key, holder: 'there' })).not.toBeNull();
});

test('keeps the steps and throws the error when the work during the write fails', async () => {
  const { step, written, journal } = await openJournal();
  journal.begin(step(1, at(0)));
  await expect(journal.writeDownDuring(() => Promise.reject(new Error('a bug')))).rejects.toThrow('a bug');
  expect(await written()).toMatchObject([{ stepNumber: 1, status: 'processing' }]);
});

test('throws for a lost lease after the work during the write has ended', async () => {
  const { step, journal } = await openJournal();
  await handOverLeases(engine.db, 'here');
  journal.begin(step(1, at(0)));
  let isDone = false;
  const working = journal.writeDownDuring(async () => {
    await engine.db.execute('select pg_sleep(0.1)');
    isDone = true;
    throw new Error('a bug');
  });
  await expect(working).rejects.toThrow(LeaseLostError);
  expect(isDone).toBe(true);
});
