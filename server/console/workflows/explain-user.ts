import type { WhyAnswer } from '#contract/signals.ts';
import { explainEligibility, recallChecks } from '#domain/eligibility/eligibility.ts';
import { ELIGIBILITY_RULES } from '#domain/eligibility/eligibility-rules.ts';
import { EXIT_RULES, explainExit } from '#domain/exits/select-exits.ts';
import { reasonOfSkip } from '#domain/workflow/denials.ts';
import { pipelineStepNumber, userResultFromSteps } from '#domain/workflow/workflow-lifecycle.ts';
import { findUser } from '#server/admin/users/users.store.ts';
import type { Deps } from '#server/deps.ts';
import type { TradeRow } from '#server/engine/records/trades.store.ts';
import { withWorkflowOutcomes } from '#server/engine/records/workflow-outcomes.store.ts';
import { listUserSteps, type StepRow } from '#server/engine/records/workflow-steps.store.ts';
import {
  findWorkflowUser,
  listUserSignalTrades,
  type WorkflowUserRow,
} from '#server/engine/records/workflow-users.store.ts';
import { findShownWorkflow, findWorkflow, type WorkflowRow } from '#server/engine/records/workflows.store.ts';
import { readExitInput } from '#server/engine/workflow/select-exits.ts';
import { readEligibilityInput } from '#server/engine/workflow/select-users.ts';
import { isEntry, type SignalRow } from '#server/ingest/stored-signals.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import { isoDates } from '#server/platform/iso-dates.ts';

/** Explains why this user did or did not trade the signal: as recorded then, and as decided now. */
export async function explainUser(
  deps: Deps,
  options: { signal: SignalRow; userId: string; workflowId?: string | undefined },
): Promise<WhyAnswer> {
  const { db } = deps;
  const { signal, userId } = options;
  const { user } = required(await findUser(db, userId), 'userNotFound');
  const workflow = await requestedWorkflow(deps, options);
  const [shown] = workflow === null ? [] : await withWorkflowOutcomes(db, [workflow]);
  const steps = workflow === null ? [] : await listUserSteps(db, { workflowId: workflow.id, userId });
  const snapshot = workflow === null ? null : await findWorkflowUser(db, { workflowId: workflow.id, userId });
  const trades = await listUserSignalTrades(db, { signalId: signal.id, userId });
  const now = await explainNow(deps, { signal, userId });
  const userSteps = steps.filter((step) => step.userId === userId);
  const selectedAt = selectionTime(steps);
  const { id, username, isActive, isTestUser, createdAt } = user;
  return {
    signalId: signal.id,
    user: { id, username, isActive, isTestUser, createdAt: createdAt.toISOString() },
    // The response schema drops the columns that this screen does not show.
    workflow: shown
      ? {
          ...isoDates(shown),
          workflowId: shown.id,
          selectedAt: selectedAt?.toISOString() ?? null,
        }
      : null,
    conclusion: conclude({
      workflow,
      snapshot,
      selectedAt,
      userCreatedAt: createdAt,
      steps: userSteps,
      trade: trades.find((trade) => trade.workflowId === workflow?.id),
    }),
    decidedThen:
      snapshot === null
        ? null
        : { ...snapshot, checks: recallChecks(snapshot, isEntry(signal) ? ELIGIBILITY_RULES : EXIT_RULES) },
    decidedNow: { ...now.decision, checks: now.checks },
    steps: userSteps.map(isoDates),
    trades: trades.map((trade) => ({
      ...isoDates(trade),
      ofThisWorkflow: trade.workflowId === workflow?.id,
    })),
  };
}

async function explainNow(deps: Deps, { signal, userId }: { signal: SignalRow; userId: string }) {
  const find = <User extends { id: string }>(users: readonly User[]) =>
    required(
      users.find(({ id }) => id === userId),
      'userNotFound',
    );
  if (isEntry(signal)) {
    const input = await readEligibilityInput(deps, signal);
    return explainEligibility(find(input.users), input);
  }
  const { users, input } = await readExitInput(deps, signal, { userIds: [userId] });
  return explainExit(find(users), input);
}

async function requestedWorkflow(
  { db }: Deps,
  { signal, workflowId }: { signal: SignalRow; workflowId?: string | undefined },
): Promise<WorkflowRow | null> {
  if (workflowId === undefined) return await findShownWorkflow(db, signal.id);
  const workflow = await findWorkflow(db, workflowId);
  if (workflow?.signalId !== signal.id) throw new AppError('workflowNotFound');
  return workflow;
}

const selectionTime = (steps: StepRow[]): Date | null => {
  const selection = steps.find(({ stepNumber }) => stepNumber === pipelineStepNumber('user_selection'));
  return selection?.status === 'completed' ? selection.completedAt : null;
};

interface Evidence {
  workflow: WorkflowRow | null;
  snapshot: WorkflowUserRow | null;
  selectedAt: Date | null;
  userCreatedAt: Date;
  steps: StepRow[];
  trade: TradeRow | undefined;
}

/** The latest evidence wins: an order before the steps, and steps before the recorded decision. */
function conclude(evidence: Evidence): WhyAnswer['conclusion'] {
  const { snapshot, steps, trade } = evidence;
  if (trade !== undefined) return concludeTrade(trade);
  if (steps.length > 0) return concludeSteps(steps);
  if (snapshot === null) return { outcome: 'not considered', text: neverConsidered(evidence) };
  if (snapshot.status === 'not eligible') return { outcome: 'not eligible', text: snapshot.reason };
  if (evidence.workflow?.completedAt != null) {
    return { outcome: 'failed', text: 'Eligible, but no step of this user is recorded' };
  }
  const waits = evidence.workflow?.canaryState === 'waiting' ? WAITS_FOR_CANARY : 'has not begun';
  return { outcome: 'in progress', text: `Eligible; the processing of this user ${waits}` };
}

const WAITS_FOR_CANARY = 'begins when the first users of the strategy are filled and protected';

function concludeTrade({ state, success, fillStatus, error }: TradeRow): WhyAnswer['conclusion'] {
  if (state !== 'done') return { outcome: 'in progress', text: 'The order is on its way' };
  if (success !== true) return { outcome: 'failed', text: error ?? 'Unknown error' };
  return {
    outcome: 'traded',
    text: fillStatus === 'partial' ? 'The order was partly filled' : 'The order was filled',
  };
}

function concludeSteps(steps: StepRow[]): WhyAnswer['conclusion'] {
  const result = userResultFromSteps(steps);
  const error = steps.find(({ errorMessage }) => errorMessage !== null)?.errorMessage;
  const text = error == null ? 'Unknown error' : reasonOfSkip(error);
  if (result === 'skipped' || result === 'failed') return { outcome: result, text };
  if (result === 'success') return { outcome: 'traded', text: textOfClose(steps) ?? 'The order was filled' };
  const current = steps.findLast(({ status }) => status === 'processing');
  return {
    outcome: 'in progress',
    text: current === undefined ? 'The next step has not begun' : `Now at the step ${current.stepName}`,
  };
}

/** What a signal closed, from the step that recorded it. */
function textOfClose(steps: StepRow[]): string | null {
  const output = steps.find(({ stepType }) => stepType === 'order_submission')?.outputData;
  const text: unknown = typeof output === 'object' && output !== null ? Reflect.get(output, 'text') : null;
  return typeof text === 'string' ? text : null;
}

function neverConsidered({ workflow, selectedAt, userCreatedAt }: Evidence): string {
  if (workflow === null) return 'No workflow of this signal is recorded';
  if (selectedAt !== null) {
    return userCreatedAt > selectedAt
      ? 'The user was created after the workflow had selected its users'
      : 'The workflow did not consider this user';
  }
  if (workflow.status === 'pending' || workflow.status === 'processing') {
    return 'The workflow has not selected its users yet';
  }
  const cause = workflow.errorMessage === null ? '' : `: ${workflow.errorMessage}`;
  return `The workflow ${workflow.status === 'aborted' ? 'was aborted' : workflow.status} before it selected its users${cause}`;
}
