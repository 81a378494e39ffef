import { and, asc, desc, eq, inArray, isNull, lt, sql } from 'drizzle-orm';
import type { EligibilityResult } from '#domain/eligibility/eligibility.ts';
import { pipelineStepNumber } from '#domain/workflow/workflow-lifecycle.ts';
import { builtOnce, writtenOnce } from '#server/platform/db/built-once.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { trades, workflowSteps, workflows, workflowUsers } from '#server/platform/db/schema.ts';
import { together } from '#server/platform/db/together.ts';

export type WorkflowUserRow = typeof workflowUsers.$inferSelect;
type TradeRow = typeof trades.$inferSelect;

const insertDecisions = writtenOnce<{ workflowId: string; rows: string }>()(
  (value) => sql`
    insert into workflow_users (workflow_id, user_id, username, position, status, reason, rule, saw, wanted, layer, outcome)
    select ${value('workflowId')}::uuid, "userId", username, position, status, reason, rule, saw, wanted, layer,
      case when position is not null then 'waiting' end
    from json_to_recordset(${value('rows')}::json) as decision (
      "userId" uuid, username text, position int, status text, reason text, rule text, saw text, wanted text, layer int
    )
    on conflict do nothing`,
);

/** The snapshot of step 6, written once. All users are one value: a statement takes at most 65,535. */
export async function writeEligibility(tx: Tx, workflowId: string, result: EligibilityResult): Promise<void> {
  const positions = new Map(result.eligible.map(({ id }, position) => [id, position]));
  const rows = result.decisions.map((decision) => ({
    ...decision,
    position: positions.get(decision.userId) ?? null,
  }));
  await together(
    insertDecisions(tx, { workflowId, rows: JSON.stringify(rows) }),
    tx
      .update(workflows)
      .set({ eligibleUsersCount: result.eligible.length })
      .where(eq(workflows.id, workflowId))
      .execute(),
  );
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

const turn = builtOnce<{ workflowId: string; userId: string }>()((db, value) =>
  db
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
    .where(and(eq(workflows.id, value('workflowId')), eq(workflowUsers.userId, value('userId')))),
);

/** One statement: it runs twice for every user of every signal. */
export async function findUserTurn(
  db: Queryable,
  { workflowId, userId }: { workflowId: string; userId: string },
): Promise<UserTurn | null> {
  const [row] = await turn(db, { workflowId, userId });
  return row ?? null;
}

const earlierSizing = builtOnce<{ workflowId: string; position: number }>()((db, value) =>
  db
    .select({ userId: workflowUsers.userId })
    .from(workflowUsers)
    .leftJoin(
      trades,
      and(eq(trades.workflowId, workflowUsers.workflowId), eq(trades.userId, workflowUsers.userId)),
    )
    .where(
      and(
        eq(workflowUsers.workflowId, value('workflowId')),
        lt(workflowUsers.position, value('position')),
        inArray(workflowUsers.outcome, ['waiting', 'running']),
        isNull(trades.id),
      ),
    )
    .limit(1),
);

/** Whether a user who trades before this one has neither an order nor an outcome yet. */
export async function isEarlierUserSizing(
  db: Queryable,
  { workflowId, position }: { workflowId: string; position: number },
): Promise<boolean> {
  return (await earlierSizing(db, { workflowId, position })).length > 0;
}

/** Eligible users first, in the order of trading. */
export async function listWorkflowUsers(db: Queryable, workflowId: string): Promise<WorkflowUserRow[]> {
  return await db
    .select()
    .from(workflowUsers)
    .where(eq(workflowUsers.workflowId, workflowId))
    .orderBy(sql`${workflowUsers.position} nulls last`, asc(workflowUsers.username));
}

/** Users whose part is not over, in the order of trading. */
export async function listUnfinishedUsers(db: Queryable, workflowId: string): Promise<string[]> {
  const rows = await db
    .select({ userId: workflowUsers.userId })
    .from(workflowUsers)
    .where(
      and(eq(workflowUsers.workflowId, workflowId), inArray(workflowUsers.outcome, ['waiting', 'running'])),
    )
    .orderBy(asc(workflowUsers.position));
  return rows.map(({ userId }) => userId);
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

/** Blocks other counts, but not writes of rows that refer to the workflow. */
const lockWorkflow = builtOnce<{ workflowId: string }>()((db, value) =>
  db
    .select({ id: workflows.id })
    .from(workflows)
    .where(eq(workflows.id, value('workflowId')))
    .for('no key update'),
);

/** Runs after the lock, to see what earlier holders committed. */
const countOutcome = writtenOnce<{ workflowId: string; userId: string; outcome: string }>()<{
  remaining: number;
}>(
  (value) => sql`
    with changed as (
      update workflow_users set outcome = ${value('outcome')}
      where workflow_id = ${value('workflowId')} and user_id = ${value('userId')} and outcome in ('waiting', 'running')
      returning outcome
    ), others as (
      select count(*) filter (where outcome in ('waiting', 'running')) as remaining,
        count(*) filter (where outcome = 'success') as successful
      from workflow_users where workflow_id = ${value('workflowId')} and user_id <> ${value('userId')}
    )
    update workflows set successful_users_count = others.successful + (changed.outcome = 'success')::int
    from changed, others where workflows.id = ${value('workflowId')}
    returning others.remaining::int as remaining`,
);

/** Writes a user's outcome and counts: the workflow row is locked, so exactly one caller sees `remaining` 0. */
export async function writeUserOutcome(
  tx: Tx,
  options: { workflowId: string; userId: string; outcome: 'success' | 'skipped' | 'failed' },
): Promise<{ changed: boolean; remaining: number }> {
  const [, { rows }] = await together(
    lockWorkflow(tx, { workflowId: options.workflowId }),
    countOutcome(tx, { ...options }),
  );
  const [row] = rows;
  return { changed: row !== undefined, remaining: row?.remaining ?? 0 };
}

/** Replaces the outcome of a user whose part has ended, and counts again. */
export async function correctUserOutcome(
  tx: Tx,
  options: { workflowId: string; userId: string; outcome: 'success' | 'failed' },
): Promise<void> {
  const { workflowId, userId, outcome } = options;
  await lockWorkflow(tx, { workflowId });
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
  const { successful } = await countOutcomes(tx, workflowId);
  await tx.update(workflows).set({ successfulUsersCount: successful }).where(eq(workflows.id, workflowId));
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
