import { and, asc, desc, eq, sql } from 'drizzle-orm';
import type { EligibilityResult } from '#domain/eligibility/eligibility.ts';
import { pipelineStepNumber } from '#domain/workflow/workflow-lifecycle.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import { trades, workflowSteps, workflows, workflowUsers } from '#server/platform/db/schema.ts';

export type WorkflowUserRow = typeof workflowUsers.$inferSelect;
type TradeRow = typeof trades.$inferSelect;

/** The snapshot of step 6, written once. All users are one value: a statement takes at most 65,535. */
export async function writeEligibility(tx: Tx, workflowId: string, result: EligibilityResult): Promise<void> {
  const positions = new Map(result.eligible.map(({ id }, position) => [id, position]));
  const rows = result.decisions.map((decision) => ({
    ...decision,
    position: positions.get(decision.userId) ?? null,
  }));
  await tx.execute(sql`
    insert into workflow_users (workflow_id, user_id, username, position, status, reason, rule, saw, wanted, layer, outcome)
    select ${workflowId}::uuid, "userId", username, position, status, reason, rule, saw, wanted, layer,
      case when position is not null then 'waiting' end
    from json_to_recordset(${JSON.stringify(rows)}::json) as decision (
      "userId" uuid, username text, position int, status text, reason text, rule text, saw text, wanted text, layer int
    )
    on conflict do nothing`);
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

/** The current state of a user's part of a workflow. */
export interface UserTurn {
  workflow: typeof workflows.$inferSelect;
  user: WorkflowUserRow;
  trade: TradeRow | null;
  /** When step 7 began; null before. */
  processingSince: Date | null;
}

/** The parts of these users, in the order of trading. */
export async function listUserTurns(
  db: Queryable,
  { workflowId, userIds }: { workflowId: string; userIds: readonly string[] },
): Promise<UserTurn[]> {
  return await db
    .select({
      workflow: workflows,
      user: workflowUsers,
      trade: trades,
      processingSince: workflowSteps.startedAt,
    })
    .from(workflows)
    .innerJoin(workflowUsers, eq(workflowUsers.workflowId, workflows.id))
    .leftJoin(trades, and(eq(trades.workflowId, workflows.id), eq(trades.userId, workflowUsers.userId)))
    .leftJoin(
      workflowSteps,
      and(
        eq(workflowSteps.workflowId, workflows.id),
        eq(workflowSteps.stepNumber, pipelineStepNumber('user_processing')),
      ),
    )
    .where(and(eq(workflows.id, workflowId), isOneOf(workflowUsers.userId, userIds)))
    .orderBy(asc(workflowUsers.position));
}

/** Eligible users first, in the order of trading. */
export async function listWorkflowUsers(db: Queryable, workflowId: string): Promise<WorkflowUserRow[]> {
  return await db
    .select()
    .from(workflowUsers)
    .where(eq(workflowUsers.workflowId, workflowId))
    .orderBy(sql`${workflowUsers.position} nulls last`, asc(workflowUsers.username));
}

/** One user's trades of a signal, newest first. */
export async function listUserSignalTrades(
  db: Queryable,
  { signalId, userId }: { signalId: string; userId: string },
): Promise<TradeRow[]> {
  return await db
    .select()
    .from(trades)
    .where(and(eq(trades.signalId, signalId), eq(trades.userId, userId)))
    .orderBy(desc(trades.createdAt), desc(trades.id));
}

/** Replaces the outcome of a user whose part has ended, and counts again. */
export async function correctUserOutcome(
  tx: Tx,
  options: { workflowId: string; userId: string; outcome: 'success' | 'failed' },
): Promise<void> {
  const { workflowId, userId, outcome } = options;
  // Blocks other counts, but not writes of rows that refer to the workflow.
  await tx
    .select({ id: workflows.id })
    .from(workflows)
    .where(eq(workflows.id, workflowId))
    .for('no key update');
  await tx
    .update(workflowUsers)
    .set({ outcome })
    .where(
      and(
        eq(workflowUsers.workflowId, workflowId),
        eq(workflowUsers.userId, userId),
        eq(workflowUsers.outcome, 'failed'),
      ),
    );
  const { successful, failed, skipped } = await countOutcomes(tx, workflowId);
  await tx
    .update(workflows)
    .set({ successfulUsersCount: successful, failedUsersCount: failed, skippedUsersCount: skipped })
    .where(eq(workflows.id, workflowId));
}

/** The counts that step 7 reports. */
export async function countOutcomes(db: Queryable, workflowId: string) {
  const users = await listWorkflowUsers(db, workflowId);
  const count = (wanted: string) => users.filter(({ outcome }) => outcome === wanted).length;
  return { successful: count('success'), skipped: count('skipped'), failed: count('failed') };
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
