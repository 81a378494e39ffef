import { type PerUserStepType, pipelineStepNumber } from '#domain/workflow/workflow-lifecycle.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { together } from '#server/platform/db/together.ts';
import { assertHeld, type Lease } from '#server/platform/jobs/leases.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { endWorkflow } from './end-workflow.ts';
import { endUserStep, type UserTask } from './user-steps.ts';
import { endStep } from './workflow-steps.store.ts';
import { countOutcomes, writeUserOutcome } from './workflow-users.store.ts';
import type { WorkflowRow } from './workflows.store.ts';

/**
 * Writes a user's last step and outcome; with the last user's also step 7 and the workflow's end. I8: whatever
 * happened to one user, the others go on. `lease`: of the run that found this; without one it is the trade's own end.
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
  step: { type: PerUserStepType; outputData?: unknown; errorMessage?: string };
}

/** The same in a transaction that writes more. Answers false where somebody else has ended the user's part already. */
export async function writeUserEnd(
  deps: Pick<AutomationDeps, 'clock' | 'jobs'>,
  tx: Tx,
  { workflow, task, outcome, step }: UserEnd,
): Promise<boolean> {
  const at = deps.clock.now();
  const { type, ...end } = step;
  const [{ changed, remaining }] = await together(
    writeUserOutcome(tx, { ...task, outcome }),
    // Where the outcome stands already, the step has ended with it, and stays as it is.
    endUserStep(deps, tx, task, type, { status: outcome === 'success' ? 'completed' : 'failed', ...end }),
  );
  if (!changed || remaining > 0) return changed;
  await endStep(tx, {
    workflowId: workflow.id,
    stepNumber: pipelineStepNumber('user_processing'),
    status: 'completed',
    outputData: await countOutcomes(tx, workflow.id),
    at,
  });
  await endWorkflow(tx, { deps, workflow, status: 'completed', at });
  return true;
}
