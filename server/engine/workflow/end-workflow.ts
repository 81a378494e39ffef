import type { FailureExplanation } from '#domain/workflow/workflow-lifecycle.ts';
import type { Deps } from '#server/deps.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { releaseSlot } from './processing-slots.store.ts';
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
  await changeWorkflowStatus(tx, {
    id: workflow.id,
    status,
    at,
    ...(failure === undefined ? {} : { failure }),
  });
  const next = await releaseSlot(tx, { workflowId: workflow.id, token: workflow.token });
  if (next !== null) await deps.jobs.send(tx, 'run-workflow', { workflowId: next });
}
