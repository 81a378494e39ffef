import { expect, test } from 'vitest';
import type { WorkflowStep } from '#contract/automation.ts';
import { arrangeSteps } from './arrange-steps.ts';

const step = (stepNumber: number, change: Partial<WorkflowStep> = {}): WorkflowStep => ({
  id: String(stepNumber),
  stepNumber,
  stepName: 'Step',
  stepType: 'signal_validation',
  userId: null,
  status: 'completed',
  executionTimeMs: 1,
  inputData: null,
  outputData: null,
  metadata: null,
  errorMessage: null,
  startedAt: null,
  completedAt: null,
  processorName: null,
  ...change,
});

// Requirements: signals-the-dialogs-7, workflow-monitor-14
test('sorts steps by number into the pipeline, the step for all users, and the steps of each user', () => {
  const { pipeline, processing, users } = arrangeSteps([
    step(7),
    step(11, { userId: 'bob' }),
    step(2),
    step(10, { userId: 'ann', stepType: 'order_submission' }),
    step(1),
    step(8, { userId: 'ann' }),
  ]);
  expect(pipeline.map(({ stepNumber }) => stepNumber)).toEqual([1, 2]);
  expect(processing.map(({ stepNumber }) => stepNumber)).toEqual([7]);
  expect(users.map(({ userId, steps }) => [userId, steps.length])).toEqual([
    ['ann', 2],
    ['bob', 1],
  ]);
});

// Requirements: workflow-monitor-15
test("derives each user's result from the steps", () => {
  const { users } = arrangeSteps([
    step(8, { userId: 'ann', stepType: 'order_submission' }),
    step(11, { userId: 'bob', status: 'skipped', errorMessage: 'No balance; user will be skipped' }),
    step(14, { userId: 'cid', status: 'failed', errorMessage: 'Order refused' }),
    step(17, { userId: 'dan', status: 'processing' }),
  ]);
  expect(users.map(({ result }) => result)).toEqual(['success', 'skipped', 'failed', 'in progress']);
});
