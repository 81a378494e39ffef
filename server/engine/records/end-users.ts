import { inArray, sql } from 'drizzle-orm';
import type { CanaryState } from '#domain/workflow/canary.ts';
import type { FailureExplanation } from '#domain/workflow/workflow-lifecycle.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import { workflows } from '#server/platform/db/schema.ts';
import type { Jobs } from '#server/platform/jobs/jobs.ts';
import { releaseSlot } from './processing-slots.store.ts';
import { computeOutcome, outcomeColumns } from './workflow-outcomes.store.ts';
import { endedStep, pipelineStep, writeSteps } from './workflow-steps.store.ts';
import { changeWorkflowStatus, type WorkflowRow } from './workflows.store.ts';

type Sender = { jobs: Pick<Jobs, 'send'> };

/** Writes a workflow's end and outcome, frees its token and wakes the workflows that wait for it, all in one transaction. */
export async function endWorkflow(
  tx: Tx,
  options: {
    deps: Sender;
    workflow: Pick<WorkflowRow, 'id' | 'token'>;
    status: 'completed' | 'failed' | 'aborted';
    failure?: FailureExplanation | undefined;
    at: Date;
  },
): Promise<void> {
  const { deps, workflow, status, failure, at } = options;
  const { id, token } = workflow;
  const outcome = await computeOutcome(tx, { id, status, error: failure?.message ?? null });
  await changeWorkflowStatus(tx, { id, status, at, failure, also: outcomeColumns(outcome) });
  for (const { workflowId, isOwn } of await releaseSlot(tx, { workflowId: id, token, at })) {
    await deps.jobs.send(tx, 'run-workflow', { workflowId }, { isOwn });
  }
}

/** The result of a user's part of a workflow. */
export interface UserEnd {
  workflowId: string;
  userId: string;
  outcome: 'success' | 'skipped' | 'failed';
}

interface Counts {
  [field: string]: unknown;
  id: string;
  token: string;
  canaryState: CanaryState | null;
  remaining: number;
  successful: number;
  skipped: number;
  failed: number;
}

/**
 * Writes users' outcomes, counts them, and ends the workflows whose last user has ended. Returns the ends of users whose
 * part has already ended or not begun: nothing is written for them. I8: one user's outcome does not stop the others.
 */
export async function endUsers(
  tx: Tx,
  options: { deps: Sender; ends: readonly UserEnd[]; at: Date; processorName: string },
): Promise<UserEnd[]> {
  const { deps, ends, at, processorName } = options;
  if (ends.length === 0) return [];
  const workflowIds = [...new Set(ends.map(({ workflowId }) => workflowId))];
  // The lock lets exactly one transaction see the last user end; the count runs after it, to see what others committed.
  const [, written, counted] = await Promise.all([
    tx
      .select({ id: workflows.id })
      .from(workflows)
      .where(inArray(workflows.id, workflowIds))
      .orderBy(workflows.id)
      .for('no key update')
      .execute(),
    writeOutcomes(tx, ends),
    countOutcomes(tx, workflowIds),
  ]);
  const keyOf = ({ workflowId, userId }: Pick<UserEnd, 'workflowId' | 'userId'>) => `${workflowId} ${userId}`;
  const ended = new Set(written.rows.map(keyOf));
  const changed = new Set(written.rows.map(({ workflowId }) => workflowId));
  for (const { id, token, canaryState, remaining, ...outputData } of counted.rows) {
    if (!changed.has(id)) continue;
    // Others may wait for what became of this user.
    if (remaining > 0 && canaryState === 'waiting')
      await deps.jobs.send(tx, 'trade-wave', { workflowId: id });
    if (remaining > 0) continue;
    const step = pipelineStep('user_processing', { workflowId: id, inputData: null, processorName, at });
    await writeSteps(tx, [endedStep(step, { status: 'completed', outputData, at })]);
    await endWorkflow(tx, { deps, workflow: { id, token }, status: 'completed', at });
  }
  return ends.filter((end) => !ended.has(keyOf(end)));
}

const writeOutcomes = (tx: Tx, ends: readonly UserEnd[]) =>
  tx
    .execute<{ workflowId: string; userId: string }>(sql`
    update workflow_users as part set outcome = "end".outcome
    from json_to_recordset(${JSON.stringify(ends)}::json) as "end" ("workflowId" uuid, "userId" uuid, outcome text),
      workflows
    where part.workflow_id = "end"."workflowId" and part.user_id = "end"."userId"
      and part.outcome in ('waiting', 'running') and part.position is not null
      and workflows.id = part.workflow_id and workflows.status = 'processing'
    returning part.workflow_id as "workflowId", part.user_id as "userId"`)
    .execute();

const countOutcomes = (tx: Tx, workflowIds: readonly string[]) =>
  tx
    .execute<Counts>(sql`
    update workflows set successful_users_count = counted.successful, failed_users_count = counted.failed,
      skipped_users_count = counted.skipped
    from (
      select workflow_id, count(*) filter (where outcome in ('waiting', 'running'))::int as remaining,
        count(*) filter (where outcome = 'success')::int as successful,
        count(*) filter (where outcome = 'skipped')::int as skipped,
        count(*) filter (where outcome = 'failed')::int as failed
      from workflow_users where ${isOneOf(sql`workflow_id`, workflowIds)}
      group by workflow_id
    ) as counted
    where workflows.id = counted.workflow_id
    returning workflows.id, workflows.token, workflows.canary_state as "canaryState", counted.remaining, counted.successful, counted.skipped, counted.failed`)
    .execute();
