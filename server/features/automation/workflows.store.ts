import { and, asc, count, desc, eq, inArray, isNull, lt, ne, type SQL, sql } from 'drizzle-orm';
import type { EligibilityResult } from '#domain/eligibility.ts';
import type { FailureExplanation, WorkflowStatus } from '#domain/workflow-lifecycle.ts';
import { nextWorkflowStatus } from '#domain/workflow-lifecycle.ts';
import type { Queryable, Tx } from '#server/platform/database/database.ts';
import {
  processingSlots,
  trades,
  workflowSteps,
  workflows,
  workflowUsers,
} from '#server/platform/database/schema.ts';

export type WorkflowRow = typeof workflows.$inferSelect;
export type WorkflowUserRow = typeof workflowUsers.$inferSelect;

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

// ---- The processing slot: one workflow of a token at a time, in the order of their creation -------------------

export type SlotResult = { acquired: true } | { acquired: false; waitingFor: string };

export async function acquireSlot(
  tx: Tx,
  { workflowId, token, at }: { workflowId: string; token: string; at: Date },
): Promise<SlotResult> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`slot:${token}`}, 0))`);
  const [older] = await tx
    .select({ id: workflows.id })
    .from(workflows)
    .where(
      and(
        eq(workflows.token, token),
        inArray(workflows.status, [...RUNNING_STATUSES]),
        ne(workflows.id, workflowId),
        sql`(${workflows.id} < ${workflowId}
             or ${workflows.id} = (select workflow_id from processing_slots where token = ${token}))`,
      ),
    )
    .orderBy(asc(workflows.id))
    .limit(1);
  if (older !== undefined) return { acquired: false, waitingFor: older.id };
  await tx
    .insert(processingSlots)
    .values({ token, workflowId, acquiredAt: at })
    .onConflictDoUpdate({ target: processingSlots.token, set: { workflowId, acquiredAt: at } });
  return { acquired: true };
}

/** Frees the token and says which workflow waits next. */
export async function releaseSlot(
  tx: Tx,
  { workflowId, token }: { workflowId: string; token: string },
): Promise<string | null> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`slot:${token}`}, 0))`);
  await tx
    .delete(processingSlots)
    .where(and(eq(processingSlots.token, token), eq(processingSlots.workflowId, workflowId)));
  const [next] = await tx
    .select({ id: workflows.id })
    .from(workflows)
    .where(
      and(
        eq(workflows.token, token),
        inArray(workflows.status, [...RUNNING_STATUSES]),
        ne(workflows.id, workflowId),
      ),
    )
    .orderBy(asc(workflows.id))
    .limit(1);
  return next?.id ?? null;
}

// ---- The users of a workflow ----------------------------------------------------------------------------------

/** The snapshot of step 6. A second writing of the same snapshot changes nothing. */
export async function writeEligibility(tx: Tx, workflowId: string, result: EligibilityResult): Promise<void> {
  const positions = new Map(result.eligible.map(({ id }, position) => [id, position]));
  if (result.decisions.length > 0) {
    await tx
      .insert(workflowUsers)
      .values(
        result.decisions.map((decision) => {
          const position = positions.get(decision.userId) ?? null;
          return {
            workflowId,
            userId: decision.userId,
            username: decision.username,
            position,
            status: decision.status,
            reason: decision.reason,
            rule: decision.rule,
            saw: decision.saw,
            wanted: decision.wanted,
            layer: decision.layer,
            outcome: position === null ? null : ('waiting' as const),
          };
        }),
      )
      .onConflictDoNothing();
  }
  await tx
    .update(workflows)
    .set({ eligibleUsersCount: result.eligible.length })
    .where(eq(workflows.id, workflowId));
}

export async function findWorkflowUser(
  db: Queryable,
  { workflowId, userId }: { workflowId: string; userId: string },
): Promise<WorkflowUserRow | null> {
  const [row] = await db
    .select()
    .from(workflowUsers)
    .where(and(eq(workflowUsers.workflowId, workflowId), eq(workflowUsers.userId, userId)));
  return row ?? null;
}

/** When step 7 began; null before. */
export async function findProcessingStart(db: Queryable, workflowId: string): Promise<Date | null> {
  const [row] = await db
    .select({ startedAt: workflowSteps.startedAt })
    .from(workflowSteps)
    .where(and(eq(workflowSteps.workflowId, workflowId), eq(workflowSteps.stepType, 'user_processing')));
  return row?.startedAt ?? null;
}

/** Whether a user who trades before this one has neither an order nor an outcome yet. */
export async function isEarlierUserSizing(
  db: Queryable,
  { workflowId, position }: { workflowId: string; position: number },
): Promise<boolean> {
  const [row] = await db
    .select({ userId: workflowUsers.userId })
    .from(workflowUsers)
    .leftJoin(
      trades,
      and(eq(trades.workflowId, workflowUsers.workflowId), eq(trades.userId, workflowUsers.userId)),
    )
    .where(
      and(
        eq(workflowUsers.workflowId, workflowId),
        lt(workflowUsers.position, position),
        inArray(workflowUsers.outcome, ['waiting', 'running']),
        isNull(trades.id),
      ),
    )
    .limit(1);
  return row !== undefined;
}

/** Eligible ones first, in the order of trading. */
export async function listWorkflowUsers(db: Queryable, workflowId: string): Promise<WorkflowUserRow[]> {
  return await db
    .select()
    .from(workflowUsers)
    .where(eq(workflowUsers.workflowId, workflowId))
    .orderBy(sql`${workflowUsers.position} nulls last`, asc(workflowUsers.username));
}

/** Writes what became of a user and counts: the workflow row is locked, so exactly one caller sees `remaining` 0. */
export async function writeUserOutcome(
  tx: Tx,
  options: { workflowId: string; userId: string; outcome: 'success' | 'skipped' | 'failed' },
): Promise<{ changed: boolean; remaining: number }> {
  const { workflowId, userId, outcome } = options;
  await tx.select({ id: workflows.id }).from(workflows).where(eq(workflows.id, workflowId)).for('update');
  const changed = await tx
    .update(workflowUsers)
    .set({ outcome })
    .where(
      and(
        eq(workflowUsers.workflowId, workflowId),
        eq(workflowUsers.userId, userId),
        inArray(workflowUsers.outcome, ['waiting', 'running']),
      ),
    )
    .returning({ userId: workflowUsers.userId });
  const [counted] = await tx
    .select({
      remaining: sql<number>`(count(*) filter (where outcome in ('waiting', 'running')))::int`,
      successful: sql<number>`(count(*) filter (where outcome = 'success'))::int`,
    })
    .from(workflowUsers)
    .where(eq(workflowUsers.workflowId, workflowId));
  await tx
    .update(workflows)
    .set({ successfulUsersCount: counted?.successful ?? 0 })
    .where(eq(workflows.id, workflowId));
  return { changed: changed.length > 0, remaining: counted?.remaining ?? 0 };
}

export async function countUserFailedTry(
  db: Queryable,
  { workflowId, userId }: { workflowId: string; userId: string },
): Promise<number> {
  const [row] = await db
    .update(workflowUsers)
    .set({ failedTries: sql`${workflowUsers.failedTries} + 1` })
    .where(and(eq(workflowUsers.workflowId, workflowId), eq(workflowUsers.userId, userId)))
    .returning({ failedTries: workflowUsers.failedTries });
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

// ---- The monitor ----------------------------------------------------------------------------------------------

export interface WorkflowSummary {
  workflow: WorkflowRow;
  stepCount: number;
  tradeCount: number;
  successfulTrades: number;
}

export async function listWorkflows(
  db: Queryable,
  options: { processor?: string | undefined; status?: string | undefined; page: number; limit: number },
): Promise<{ rows: WorkflowSummary[]; total: number }> {
  const { processor, status, page, limit } = options;
  const where = and(
    ...[
      processor === undefined ? undefined : eq(workflows.processor, processor),
      status === undefined ? undefined : sql`${workflows.status} = ${status}`,
    ].filter((one): one is SQL => one !== undefined),
  );
  const rows = await db
    .select()
    .from(workflows)
    .where(where)
    .orderBy(desc(workflows.createdAt), desc(workflows.id))
    .limit(limit)
    .offset((page - 1) * limit);
  const [counted] = await db.select({ total: count() }).from(workflows).where(where);
  const ids = rows.map(({ id }) => id);
  const steps = await db
    .select({ id: workflowSteps.workflowId, steps: count() })
    .from(workflowSteps)
    .where(inArray(workflowSteps.workflowId, ids))
    .groupBy(workflowSteps.workflowId);
  const orders = await db
    .select({
      id: trades.workflowId,
      total: count(),
      successful: sql<number>`(count(*) filter (where ${trades.success}))::int`,
    })
    .from(trades)
    .where(inArray(trades.workflowId, ids))
    .groupBy(trades.workflowId);
  const stepsOf = new Map(steps.map((one) => [one.id, one.steps]));
  const ordersOf = new Map(orders.map((one) => [one.id, one]));
  return {
    rows: rows.map((workflow) => ({
      workflow,
      stepCount: stepsOf.get(workflow.id) ?? 0,
      tradeCount: ordersOf.get(workflow.id)?.total ?? 0,
      successfulTrades: ordersOf.get(workflow.id)?.successful ?? 0,
    })),
    total: counted?.total ?? 0,
  };
}

export async function listWorkflowProcessors(db: Queryable): Promise<string[]> {
  const rows = await db
    .selectDistinct({ processor: workflows.processor })
    .from(workflows)
    .orderBy(workflows.processor);
  return rows.map(({ processor }) => processor);
}
