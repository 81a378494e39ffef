import { expect, test } from 'vitest';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { nextToken } from '#test/app/token-holders.ts';
import { endedStep, type StepStart, startedStep, writeSteps } from './workflow-steps.store.ts';

const engine = sharedTestEngine({ settles: false });

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, seconds));

async function newWorkflow() {
  const { workflowId } = await engine.storeSignal({ token: nextToken(), price: '100' });
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
  return { step, written: () => engine.steps(workflowId) };
}

test('writes ended steps together, each with its duration', async () => {
  const { step, written } = await newWorkflow();
  await writeSteps(engine.db, [
    endedStep(step(1, at(0)), { status: 'completed', outputData: { valid: true }, at: at(1) }),
    endedStep(step(2, at(1)), { status: 'failed', errorMessage: 'too old', at: at(3) }),
    { ...startedStep(step(3, at(3))), metadata: { waitingFor: 'another' } },
  ]);
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
  const { step, written } = await newWorkflow();
  await writeSteps(engine.db, [
    endedStep(step(1, at(0)), { status: 'completed', outputData: 'first', at: at(1) }),
    startedStep(step(2, at(1))),
  ]);
  await writeSteps(engine.db, [
    endedStep(step(1, at(10)), { status: 'failed', errorMessage: 'second', at: at(11) }),
    endedStep(step(2, at(11)), { status: 'completed', outputData: 'done', at: at(12) }),
  ]);
  expect(await written()).toMatchObject([
    { status: 'completed', outputData: 'first', errorMessage: null, completedAt: at(1) },
    { status: 'completed', outputData: 'done', startedAt: at(1), executionTimeMs: 11_000 },
  ]);
});

test('caps the duration of a step at the largest integer of milliseconds', async () => {
  const { step, written } = await newWorkflow();
  const later = at(30 * 24 * 3_600);
  await writeSteps(engine.db, [
    endedStep(step(1, at(0)), { status: 'completed', at: later }),
    startedStep(step(2, at(1))),
  ]);
  await writeSteps(engine.db, [endedStep(step(2, later), { status: 'completed', at: later })]);
  expect(await written()).toMatchObject([
    { status: 'completed', completedAt: later, executionTimeMs: 2_147_483_647 },
    { status: 'completed', completedAt: later, executionTimeMs: 2_147_483_647 },
  ]);
});
