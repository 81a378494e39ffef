import { InvalidTransition } from '../orders/order-lifecycle.ts';
import { SIGNAL_MAX_AGE_MINUTES } from '../sizing/trading-constants.ts';
import { deny } from './denials.ts';

export const WORKFLOW_STATUSES = ['pending', 'processing', 'completed', 'failed', 'aborted'] as const;
export type WorkflowStatus = (typeof WORKFLOW_STATUSES)[number];
export const STEP_STATUSES = [...WORKFLOW_STATUSES, 'skipped'] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

const WORKFLOW_TRANSITIONS: Readonly<Record<WorkflowStatus, readonly WorkflowStatus[]>> = {
  pending: ['processing', 'failed', 'aborted'],
  processing: ['processing', 'completed', 'failed', 'aborted'],
  completed: [],
  failed: [],
  aborted: [],
};

/** The wanted status, or InvalidTransition. Processing may be entered again: a restart resumes the run. */
export function nextWorkflowStatus(current: WorkflowStatus, wanted: WorkflowStatus): WorkflowStatus {
  const targets = WORKFLOW_TRANSITIONS[current];
  if (!targets.includes(wanted)) throw new InvalidTransition('A workflow', current, wanted, targets);
  return wanted;
}

/** The statuses that the wanted one may follow. */
export function statusesBefore(wanted: WorkflowStatus): WorkflowStatus[] {
  return WORKFLOW_STATUSES.filter((status) => WORKFLOW_TRANSITIONS[status].includes(wanted));
}

export function isWorkflowEnded(status: WorkflowStatus): boolean {
  return WORKFLOW_TRANSITIONS[status].length === 0;
}

/** Only a failed workflow with a signal can be retried. */
export function canRetryWorkflow(workflow: { status: string; signalId: string | null }): boolean {
  return workflow.status === 'failed' && workflow.signalId !== null;
}

export const PIPELINE_STEPS = [
  { number: 1, name: 'Validate Signal', type: 'signal_validation' },
  { number: 2, name: 'Check Environment', type: 'environment_check' },
  { number: 3, name: 'Acquire Processing Slot', type: 'processing_slot' },
  { number: 4, name: 'Match Price Log', type: 'price_log_match' },
  { number: 5, name: 'Fetch Current Price', type: 'current_price' },
  { number: 6, name: 'Select Eligible Users', type: 'user_selection' },
  { number: 7, name: 'Process All Users', type: 'user_processing' },
] as const;
export type PipelineStepType = (typeof PIPELINE_STEPS)[number]['type'];

/** The number of a step that occurs once per workflow, from 1 to 7. */
export function pipelineStepNumber(step: PipelineStepType): number {
  return PIPELINE_STEPS.findIndex(({ type }) => type === step) + 1;
}

export const PER_USER_STEPS = [
  { name: 'Load User Settings', type: 'user_settings' },
  { name: 'Generate Position', type: 'position_generation' },
  { name: 'Submit Order', type: 'order_submission' },
] as const;
export type PerUserStepType = (typeof PER_USER_STEPS)[number]['type'];

/** The number of a per-user step: above 7, unique, and the same after a restart. Users count from 0. */
export function userStepNumber(userIndex: number, step: PerUserStepType): number {
  if (!Number.isSafeInteger(userIndex) || userIndex < 0) {
    throw new RangeError(`A user index is a whole number from 0, not ${userIndex}`);
  }
  const position = PER_USER_STEPS.findIndex(({ type }) => type === step);
  if (position === -1) throw new RangeError(`Not a per-user step: ${step}`);
  return PIPELINE_STEPS.length + 1 + userIndex * PER_USER_STEPS.length + position;
}

/** Whether too much time passed between a signal's receipt and the start of its automatic workflow. */
export function isSignalExpired(times: {
  receivedAt: Date;
  startsAt: Date;
  maxAgeMinutes?: number;
}): boolean {
  const ageMs = times.startsAt.getTime() - times.receivedAt.getTime();
  return ageMs > (times.maxAgeMinutes ?? SIGNAL_MAX_AGE_MINUTES) * 60_000;
}

/**
 * A signal whose own time is older than this at receipt is not traded automatically: it may repeat a signal whose hash
 * was deleted. Longer than a yearly candle, whose signals carry its opening time.
 */
export const OLDEST_SIGNAL_DAYS = 400;

export function isSignalTooOld({ time, receivedAt }: { time: Date | null; receivedAt: Date }): boolean {
  return time !== null && receivedAt.getTime() - time.getTime() > OLDEST_SIGNAL_DAYS * 24 * 3_600_000;
}

/** How many workflows of their own signals that enter an ordinary user may have at work at a time, over all instances. */
export const OWN_AT_A_TIME = 2;
/** How many such workflows may be unfinished; apart from these, as many of signals that leave. */
export const OWN_UNFINISHED = 50;

export type UserResult = 'success' | 'skipped' | 'failed' | 'in progress';

/** The result of a user's steps. Submission takes precedence over errors, skipping over failing. */
export function userResultFromSteps(
  steps: readonly { stepType: string; status: string; errorMessage?: string | null }[],
): UserResult {
  if (steps.some(({ stepType, status }) => stepType === 'order_submission' && status === 'completed')) {
    return 'success';
  }
  if (
    steps.some(({ errorMessage }) =>
      /user will be skipped|settings (were )?not found/i.test(errorMessage ?? ''),
    )
  ) {
    return 'skipped';
  }
  return steps.some(({ status }) => status === 'failed') ? 'failed' : 'in progress';
}

interface FailureContext {
  SIGNAL_INVALID: { detail: string };
  AUTO_TRADING_DISABLED: { detail: string };
  CONCURRENCY_CONFLICT: { token: string };
  SIGNAL_EXPIRED: { ageMinutes: string; maxAgeMinutes: string };
  TOO_MANY_OWN_SIGNALS: { unfinished: string };
  PROCESSING_ERROR: { step: string; detail: string };
}

type FailureType = keyof FailureContext;

/** `message` is the workflow's error message, the rest its error details. */
export interface FailureExplanation {
  failureType: FailureType;
  userFriendlyExplanation: string;
  suggestedAction: string;
  message: string;
}

type Explain<Type extends FailureType> = (
  context: FailureContext[Type],
) => Omit<FailureExplanation, 'failureType'>;

/** The monitor cuts explanations after 50 characters, so each starts with the main point. */
const EXPLANATIONS: { [Type in FailureType]: Explain<Type> } = {
  SIGNAL_INVALID: ({ detail }) => ({
    message: `Signal validation failed: ${detail}`,
    userFriendlyExplanation: 'Invalid signal: it cannot be traded as it came',
    suggestedAction: 'Check the alert message on the charting platform and send the signal again',
  }),
  AUTO_TRADING_DISABLED: ({ detail }) => ({
    message: deny('auto_trading_disabled', { detail }).reason,
    userFriendlyExplanation: 'Trading is disabled, the signal was only recorded',
    suggestedAction: 'Enable auto-trading in a production environment, or trigger the workflow by hand',
  }),
  CONCURRENCY_CONFLICT: ({ token }) => ({
    message: `The system is processing other signals of ${token}; try again when they are done`,
    userFriendlyExplanation: 'The system is busy with another workflow of the same token',
    suggestedAction: 'Wait until the running workflow has ended, then trigger this one again',
  }),
  SIGNAL_EXPIRED: (context) => ({
    message: deny('signal_expired', context).reason,
    userFriendlyExplanation: 'Signal expired before it could be processed',
    suggestedAction: 'Trigger the workflow by hand if the signal still holds',
  }),
  TOO_MANY_OWN_SIGNALS: ({ unfinished }) => ({
    message: `${unfinished} earlier signals of this user are not finished yet, so this one is not traded`,
    userFriendlyExplanation: 'Too many signals of this user are unfinished',
    suggestedAction: 'Send fewer signals, and look for what keeps the earlier ones from ending',
  }),
  PROCESSING_ERROR: ({ step, detail }) => ({
    message: `${step} failed: ${detail}`,
    userFriendlyExplanation: 'Processing failed, the workflow was stopped',
    suggestedAction: 'Look at the failed step in the execution details, then retry the workflow',
  }),
};

/** The texts of a workflow's failure; the context holds the figures that the message names. */
export function explainFailure<Type extends FailureType>(
  failureType: Type,
  context: FailureContext[Type],
): FailureExplanation {
  const explain: Explain<Type> = EXPLANATIONS[failureType];
  return { failureType, ...explain(context) };
}

/** The text of the monitor's failure-reason column. */
export function failureReasonLabel(failure: { message: string | null; details: unknown }): string {
  const details = readFailureDetails(failure.details);
  if (details?.failureType === 'CONCURRENCY_CONFLICT') return 'System Busy';
  if (details?.failureType === 'PROCESSING_ERROR') return 'Processing Failed';
  if (details?.userFriendlyExplanation) return details.userFriendlyExplanation.slice(0, 50);
  const message = failure.message ?? '';
  if (message.includes('processing other signals')) return 'System Busy';
  if (message.includes('Signal validation failed')) return 'Invalid Signal';
  if (message.includes('Auto-trading is disabled')) return 'Trading Disabled';
  return message.slice(0, 30);
}

/** The column's tooltip, line by line; details that cannot be parsed appear as technical details. */
export function failureTooltip(failure: { message: string | null; details: unknown }): string {
  const details = readFailureDetails(failure.details);
  const technical = typeof failure.details === 'string' ? failure.details : JSON.stringify(failure.details);
  const lines = [
    failure.message,
    details?.failureType && `Failure type: ${details.failureType}`,
    details?.userFriendlyExplanation && `Explanation: ${details.userFriendlyExplanation}`,
    details?.suggestedAction && `Suggested action: ${details.suggestedAction}`,
    details === null && failure.details != null && `Technical details: ${technical}`,
  ];
  return lines.filter(Boolean).join('\n');
}

type FailureDetails = Partial<
  Record<'failureType' | 'userFriendlyExplanation' | 'suggestedAction', string | undefined>
>;

function readFailureDetails(details: unknown): FailureDetails | null {
  const value = typeof details === 'string' ? parseJson(details) : details;
  if (typeof value !== 'object' || value === null) return null;
  const text = (key: string) => {
    const field: unknown = Reflect.get(value, key);
    return typeof field === 'string' ? field : undefined;
  };
  const known = {
    failureType: text('failureType'),
    userFriendlyExplanation: text('userFriendlyExplanation'),
    suggestedAction: text('suggestedAction'),
  };
  return Object.values(known).some(Boolean) ? known : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * The status badge's tooltip. Without the steps, `errorMessage` (the workflow's own error) replaces the first failed
 * step's.
 */
export function workflowTooltip(workflow: {
  status: string;
  successfulUsers: number;
  eligibleUsers: number;
  steps?: readonly { stepNumber: number; status: string; errorMessage?: string | null }[];
  errorMessage?: string | null;
}): string {
  const { status, successfulUsers, eligibleUsers } = workflow;
  if (status === 'failed' || status === 'aborted') {
    return `Workflow ${status}: ${stoppingError(workflow) ?? 'Processing stopped due to critical error'}`;
  }
  if (status === 'completed' && successfulUsers === 0) {
    return 'Workflow completed - No users processed successfully';
  }
  if (status === 'pending') return 'Waiting to start processing';
  if (status === 'processing') return 'Currently processing users';
  const shown = (count: number) => (Number.isFinite(count) ? String(count) : '–');
  return `${shown(successfulUsers)}/${shown(eligibleUsers)} users processed`;
}

function stoppingError({
  status,
  steps,
  errorMessage,
}: Parameters<typeof workflowTooltip>[0]): string | undefined {
  if (steps === undefined) return errorMessage || undefined;
  const withError = [...steps]
    .sort((a, b) => a.stepNumber - b.stepNumber)
    .filter((step) => Boolean(step.errorMessage));
  const failed = withError.find((step) => step.status === 'failed');
  const found = failed ?? (status === 'aborted' ? withError[0] : undefined);
  return found?.errorMessage ?? undefined;
}
