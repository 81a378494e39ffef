import { describe, expect, it } from 'vitest';
import { InvalidTransition } from '../orders/order-lifecycle.ts';
import {
  canRetryWorkflow,
  explainFailure,
  failureReasonLabel,
  failureTooltip,
  isSignalExpired,
  isWorkflowEnded,
  nextWorkflowStatus,
  PER_USER_STEPS,
  PIPELINE_STEPS,
  STEP_STATUSES,
  userResultFromSteps,
  userStepNumber,
  WORKFLOW_STATUSES,
  workflowTooltip,
} from './workflow-lifecycle.ts';

describe('workflow and step statuses', () => {
  // Requirements: trading-workflows-and-eligibility-1
  it('take a workflow from pending through processing to one end', () => {
    expect(nextWorkflowStatus('pending', 'processing')).toBe('processing');
    for (const end of ['completed', 'failed', 'aborted'] as const) {
      expect(nextWorkflowStatus('processing', end)).toBe(end);
      expect(isWorkflowEnded(end)).toBe(true);
    }
  });

  it('allow a restart to resume a run', () => {
    expect(nextWorkflowStatus('processing', 'processing')).toBe('processing');
  });

  // Requirements: trading-workflows-and-eligibility-1
  it('never change after an end', () => {
    for (const end of WORKFLOW_STATUSES.filter(isWorkflowEnded)) {
      for (const wanted of WORKFLOW_STATUSES) {
        expect(() => nextWorkflowStatus(end, wanted)).toThrow(InvalidTransition);
      }
    }
  });

  it('do not complete a workflow before it is processing', () => {
    expect(() => nextWorkflowStatus('pending', 'completed')).toThrow(InvalidTransition);
    expect(() => nextWorkflowStatus('processing', 'pending')).toThrow(InvalidTransition);
  });

  // Requirements: trading-workflows-and-eligibility-1
  it('include skipped for steps only', () => {
    expect(STEP_STATUSES).toContain('skipped');
    expect(WORKFLOW_STATUSES).not.toContain('skipped');
  });

  // Requirements: workflow-monitor-10
  it('allow a retry only for a failed workflow with a signal', () => {
    expect(canRetryWorkflow({ status: 'failed', signalId: 's' })).toBe(true);
    expect(canRetryWorkflow({ status: 'failed', signalId: null })).toBe(false);
    expect(canRetryWorkflow({ status: 'aborted', signalId: 's' })).toBe(false);
  });
});

describe('steps', () => {
  // Requirements: workflow-monitor-14
  it('are seven in the pipeline, numbered from 1', () => {
    expect(PIPELINE_STEPS.map(({ number, name }) => `${number} ${name}`)).toEqual([
      '1 Validate Signal',
      '2 Check Environment',
      '3 Acquire Processing Slot',
      '4 Match Price Log',
      '5 Fetch Current Price',
      '6 Select Eligible Users',
      '7 Process All Users',
    ]);
  });

  // Requirements: workflow-monitor-14
  it('have unique numbers above 7 for users', () => {
    const numbers = Array.from({ length: 50 }, (_, user) =>
      PER_USER_STEPS.map(({ type }) => userStepNumber(user, type)),
    ).flat();
    expect(numbers).toEqual(Array.from({ length: 150 }, (_, index) => index + 8));
  });

  it('throw on an invalid user index', () => {
    expect(() => userStepNumber(-1, 'user_settings')).toThrow(RangeError);
    expect(() => userStepNumber(0.5, 'user_settings')).toThrow(RangeError);
  });
});

describe('an old signal', () => {
  const receivedAt = new Date('2024-05-01T12:00:00Z');
  const later = (ms: number) => new Date(receivedAt.getTime() + ms);

  // Requirements: workflows-4
  it('expires when it exceeds its age limit', () => {
    expect(isSignalExpired({ receivedAt, startsAt: later(30 * 60_000), maxAgeMinutes: 30 })).toBe(false);
    expect(isSignalExpired({ receivedAt, startsAt: later(30 * 60_000 + 1), maxAgeMinutes: 30 })).toBe(true);
    expect(isSignalExpired({ receivedAt, startsAt: later(6 * 60_000), maxAgeMinutes: 5 })).toBe(true);
  });
});

describe('failure explanations', () => {
  // Requirements: trading-fields-9
  it.each([
    [
      explainFailure('SIGNAL_INVALID', { detail: 'price is missing' }),
      'Signal validation failed: price is missing',
    ],
    [explainFailure('AUTO_TRADING_DISABLED', { detail: 'in x' }), 'Auto-trading is disabled in x'],
    [
      explainFailure('CONCURRENCY_CONFLICT', { token: 'BTC' }),
      'The system is processing other signals of BTC; ',
    ],
    [
      explainFailure('SIGNAL_EXPIRED', { ageMinutes: '45', maxAgeMinutes: '30' }),
      'Signal expired: it was received 45 minutes before processing started, the limit is 30 minutes',
    ],
    [
      explainFailure('PROCESSING_ERROR', { step: 'Match Price Log', detail: 'timeout' }),
      'Match Price Log failed: ',
    ],
  ])('start as the monitor expects for $failureType', ({ message }, beginning) => {
    expect(message.startsWith(beginning)).toBe(true);
  });

  // Requirements: workflow-monitor-7
  it.each<[unknown, string | null, string]>([
    [{ failureType: 'CONCURRENCY_CONFLICT', userFriendlyExplanation: 'x' }, 'm', 'System Busy'],
    [{ failureType: 'PROCESSING_ERROR' }, 'm', 'Processing Failed'],
    [{ failureType: 'SIGNAL_EXPIRED', userFriendlyExplanation: 'e'.repeat(80) }, 'm', 'e'.repeat(50)],
    ['{"failureType":"CONCURRENCY_CONFLICT"}', 'm', 'System Busy'],
    [null, 'The system is processing other signals of BTC', 'System Busy'],
    [null, 'Signal validation failed: price', 'Invalid Signal'],
    [undefined, 'Auto-trading is disabled in development', 'Trading Disabled'],
    [null, 'Something else entirely that is rather long', 'Something else entirely that i'],
    ['{not json', 'Signal validation failed: price', 'Invalid Signal'],
    [{}, 'Other', 'Other'],
    [null, null, ''],
  ])('label details %j with message %j as %j', (details, message, label) => {
    expect(failureReasonLabel({ message, details })).toBe(label);
  });

  // Requirements: workflow-monitor-8
  it('show the message and the details line by line in the tooltip', () => {
    const { message, ...details } = explainFailure('CONCURRENCY_CONFLICT', { token: 'BTC' });
    expect(failureTooltip({ message, details }).split('\n')).toEqual([
      message,
      'Failure type: CONCURRENCY_CONFLICT',
      `Explanation: ${details.userFriendlyExplanation}`,
      `Suggested action: ${details.suggestedAction}`,
    ]);
  });

  // Requirements: workflow-monitor-8
  it('show unparsable details as technical details', () => {
    const tooltip = (details: unknown) => failureTooltip({ message: 'Broken', details });
    expect(tooltip('{not json')).toBe('Broken\nTechnical details: {not json');
    expect(tooltip({ stack: 'at line 1' })).toBe('Broken\nTechnical details: {"stack":"at line 1"}');
    expect(tooltip(null)).toBe('Broken');
  });
});

describe('the status tooltip', () => {
  const counts = { successfulUsers: 2, eligibleUsers: 3 };
  const steps = [
    { stepNumber: 9, status: 'failed', errorMessage: 'second' },
    { stepNumber: 4, status: 'failed', errorMessage: 'first' },
    { stepNumber: 1, status: 'completed', errorMessage: null },
  ];
  const none = { status: 'completed', successfulUsers: 0, eligibleUsers: 3 };
  const withoutFailed = [{ stepNumber: 2, status: 'aborted', errorMessage: 'switched off' }];

  // Requirements: trading-workflows-and-eligibility-3, trading-workflows-and-eligibility-4
  // Requirements: trading-workflows-and-eligibility-5
  it.each([
    [{ ...counts, status: 'failed', steps }, 'Workflow failed: first'],
    [{ ...counts, status: 'aborted', steps }, 'Workflow aborted: first'],
    [{ ...counts, status: 'aborted', steps: withoutFailed }, 'Workflow aborted: switched off'],
    [
      { ...counts, status: 'failed', steps: withoutFailed },
      'Workflow failed: Processing stopped due to critical error',
    ],
    [{ ...counts, status: 'failed', errorMessage: 'boom' }, 'Workflow failed: boom'],
    [none, 'Workflow completed - No users processed successfully'],
    [{ ...counts, status: 'pending' }, 'Waiting to start processing'],
    [{ ...counts, status: 'processing' }, 'Currently processing users'],
    [{ ...counts, status: 'completed' }, '2/3 users processed'],
    [{ ...counts, status: 'something new' }, '2/3 users processed'],
  ])('%#', (workflow, text) => {
    expect(workflowTooltip(workflow)).toBe(text);
  });
});

describe("a user's result", () => {
  const step = (stepType: string, status: string, errorMessage: string | null = null) => ({
    stepType,
    status,
    errorMessage,
  });
  const loaded = step('user_settings', 'completed');
  // Requirements: workflow-monitor-15
  it.each([
    ['success', [loaded, step('order_submission', 'completed')]],
    ['skipped', [step('user_settings', 'failed', 'ATR is required; user will be skipped')]],
    ['skipped', [step('user_settings', 'failed', 'User settings not found')]],
    ['failed', [loaded, step('order_submission', 'failed', 'refused')]],
    ['in progress', [loaded, step('order_submission', 'processing')]],
    ['in progress', []],
  ])('is %s with the steps %j', (result, steps) => {
    expect(userResultFromSteps(steps)).toBe(result);
  });
});
