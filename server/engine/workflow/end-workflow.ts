import {
  type FailureExplanation,
  type PerUserStepType,
  pipelineStepNumber,
  userStepNumber,
} from '#domain/workflow/workflow-lifecycle.ts';
import type { Deps } from '#server/deps.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { together } from '#server/platform/db/together.ts';
import { assertHeld, type Lease } from '#server/platform/jobs/leases.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { releaseSlot } from './processing-slots.store.ts';
import type { UserTask } from './user-steps.ts';
import { endStep } from './workflow-steps.store.ts';
import { countOutcomes, writeUserOutcome } from './workflow-users.store.ts';
import { changeWorkflowStatus, type WorkflowRow } from './workflows.store.ts';

/** Writes a workflow's end, frees its token and wakes the workflow that waits for it, all in one transaction. */
export async function endWorkflow(
  tx: Tx,
  options: {
    deps: Pick<Deps, 'jobs'>;
    workflow: Pick<WorkflowRow, 'id' | 'token'>;
    status: 'completed' | 'failed' | 'aborted';
    failure?: FailureExplanation;
    at: Date;
  },
): Promise<void> {
  const { deps, workflow, status, failure, at } = options;
  const { id: workflowId, token } = workflow;
  await changeWorkflowStatus(tx, {
    id: workflowId,
    status,
    at,
    ...(failure === undefined ? {} : { failure }),
  });
  const next = await releaseSlot(tx, { workflowId, token });
  if (next !== null) await deps.jobs.send(tx, 'run-workflow', { workflowId: next });
}

/**
 * Writes a user's last step and outcome; for the last user also step 7 and the workflow's end. I8: one user's outcome
 * does not stop the others. `lease`: that of the calling run; the end of a trade has none.
 */
export async function finishUser(
  deps: AutomationDeps,
  { lease, ...end }: UserEnd & { lease?: Lease },
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await together(lease === undefined ? undefined : assertHeld(tx, lease), writeUserEnd(deps, tx, end));
  });
}

export interface UserEnd {
  workflow: Pick<WorkflowRow, 'id' | 'token'>;
  task: UserTask;
  outcome: 'success' | 'skipped' | 'failed';
  step: { type: PerUserStepType; outputData?: unknown; errorMessage?: string | null };
}

/** Like `finishUser`, within a larger transaction. False when the user's part has already ended. */
export async function writeUserEnd(
  deps: Pick<AutomationDeps, 'clock' | 'jobs'>,
  tx: Tx,
  { workflow, task, outcome, step: { type, ...end } }: UserEnd,
): Promise<boolean> {
  const at = deps.clock.now();
  const { workflowId, position } = task;
  const stepNumber = userStepNumber(position, type);
  const status = outcome === 'success' ? 'completed' : 'failed';
  const [{ changed, remaining }] = await together(
    writeUserOutcome(tx, { ...task, outcome }),
    // No effect on a step that ended with an earlier outcome.
    endStep(tx, { workflowId, stepNumber, at, status, ...end }),
  );
  if (!changed || remaining > 0) return changed;
  await endStep(tx, {
    workflowId,
    stepNumber: pipelineStepNumber('user_processing'),
    status: 'completed',
    outputData: await countOutcomes(tx, workflowId),
    at,
  });
  await endWorkflow(tx, { deps, workflow, status: 'completed', at });
  return true;
}
