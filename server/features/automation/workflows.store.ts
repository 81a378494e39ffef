import { and, asc, desc, eq, inArray, sql } from 'drizzle-orm';
import {
  type FailureExplanation,
  nextWorkflowStatus,
  type WorkflowStatus,
} from '#domain/workflow-lifecycle.ts';
import type { Queryable, Tx } from '#server/platform/database/database.ts';
import { workflows, workflowUsers } from '#server/platform/database/schema.ts';

export type WorkflowRow = typeof workflows.$inferSelect;

export const RUNNING_STATUSES = ['pending', 'processing'] as const satisfies WorkflowStatus[];

export async function findWorkflow(db: Queryable, id: string): Promise<WorkflowRow | null> {
  const [row] = await db.select().from(workflows).where(eq(workflows.id, id));
  return row ?? null;
}

export async function findNewestWorkflow(db: Queryable, signalId: string): Promise<WorkflowRow | null> {
  const [row] = await db
    .select()
    .from(workflows)
    .where(eq(workflows.signalId, signalId))
    .orderBy(desc(workflows.id))
    .limit(1);
  return row ?? null;
}

/** Newest first. */
export async function listSignalWorkflows(db: Queryable, signalId: string): Promise<WorkflowRow[]> {
  return await db
    .select()
    .from(workflows)
    .where(eq(workflows.signalId, signalId))
    .orderBy(desc(workflows.id));
}

/** Moves a workflow on, by its transition table. The row is locked first, so two ends cannot both be written. */
export async function changeWorkflowStatus(
  tx: Tx,
  options: {
    id: string;
    status: WorkflowStatus;
    at: Date;
    failure?: FailureExplanation;
  },
): Promise<void> {
  const { id, status, at, failure } = options;
  const [row] = await tx.select().from(workflows).where(eq(workflows.id, id)).for('update');
  if (row === undefined) throw new Error(`there is no workflow ${id}`);
  const next = nextWorkflowStatus(row.status, status);
  const ended = !(RUNNING_STATUSES as readonly string[]).includes(next);
  const details =
    failure === undefined
      ? {}
      : {
          errorMessage: failure.message,
          errorDetails: {
            failureType: failure.failureType,
            userFriendlyExplanation: failure.userFriendlyExplanation,
            suggestedAction: failure.suggestedAction,
          },
        };
  await tx
    .update(workflows)
    .set({ status: next, startedAt: row.startedAt ?? at, completedAt: ended ? at : null, ...details })
    .where(eq(workflows.id, id));
}

/** Counts one unexpected error of the pipeline and says how many there were. */
export async function countFailedTry(db: Queryable, id: string): Promise<number> {
  const [row] = await db
    .update(workflows)
    .set({ failedTries: sql`${workflows.failedTries} + 1` })
    .where(eq(workflows.id, id))
    .returning({ failedTries: workflows.failedTries });
  return row?.failedTries ?? 0;
}

/**
 * Unfinished work, for a program that starts and for the sweep: the oldest workflow of each token (its end wakes the
 * next one) and the users whose part is not over.
 */
export async function listUnfinished(db: Queryable) {
  const isRunning = inArray(workflows.status, [...RUNNING_STATUSES]);
  const pipelines = await db
    .selectDistinctOn([workflows.token], { workflowId: workflows.id })
    .from(workflows)
    .where(isRunning)
    .orderBy(workflows.token, asc(workflows.id));
  const waiting = await db
    .select({ workflowId: workflowUsers.workflowId, userId: workflowUsers.userId })
    .from(workflowUsers)
    .innerJoin(workflows, eq(workflows.id, workflowUsers.workflowId))
    .where(and(isRunning, inArray(workflowUsers.outcome, ['waiting', 'running'])))
    .orderBy(asc(workflowUsers.workflowId), asc(workflowUsers.position))
    .limit(5000);
  return { pipelines, waiting };
}
