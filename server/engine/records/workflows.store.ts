import { and, asc, desc, eq, gt, inArray, isNull, lte, or, sql } from 'drizzle-orm';
import type { CanarySettings } from '#domain/workflow/canary.ts';
import {
  type FailureExplanation,
  isWorkflowEnded,
  nextWorkflowStatus,
  pipelineStepNumber,
  statusesBefore,
  type WorkflowStatus,
} from '#domain/workflow/workflow-lifecycle.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import {
  processingSlots,
  signals,
  strategies,
  trades,
  workflows,
  workflowUsers,
} from '#server/platform/db/schema.ts';

export type WorkflowRow = typeof workflows.$inferSelect;

export const RUNNING_STATUSES = ['pending', 'processing'] as const satisfies WorkflowStatus[];

export async function findWorkflow(db: Queryable, id: string): Promise<WorkflowRow | null> {
  const [row] = await db.select().from(workflows).where(eq(workflows.id, id));
  return row ?? null;
}

/** With what is set for the strategy of the signal; null: not set. */
export interface FoundWorkflow {
  workflow: WorkflowRow;
  signal: SignalRow;
  maxSignalAgeSeconds: number | null;
  canary: CanarySettings | null;
  rotation: boolean | null;
}

/** The input of the workflow's pipeline. */
export async function findWorkflowWithSignal(db: Queryable, id: string): Promise<FoundWorkflow | null> {
  const { maxSignalAgeSeconds, canary, rotation } = strategies;
  const [row] = await db
    .select({ workflow: workflows, signal: signals, maxSignalAgeSeconds, canary, rotation })
    .from(workflows)
    .innerJoin(signals, eq(signals.id, workflows.signalId))
    .leftJoin(strategies, eq(strategies.strategy, sql`lower(btrim(${signals.processor}))`))
    .where(eq(workflows.id, id));
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

/**
 * The workflow that stands for its signal: a later run never hides the one that traded. The one with the most fills, of
 * equals the first; without any fill the newest.
 */
export const STANDS_FOR_SIGNAL = sql`successful_users_count desc,
  case when successful_users_count > 0 then id end, id desc`;

/** The workflow that a signal's row shows. */
export async function findShownWorkflow(db: Queryable, signalId: string): Promise<WorkflowRow | null> {
  const [row] = await db
    .select()
    .from(workflows)
    .where(eq(workflows.signalId, signalId))
    .orderBy(STANDS_FOR_SIGNAL)
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

/** Whether a later signal waits to leave what this workflow's signal may enter. */
export async function isLeaveWaiting(db: Queryable, { id, token }: WorkflowRow): Promise<boolean> {
  const found = await db
    .select({ id: workflows.id })
    .from(workflows)
    .innerJoin(signals, eq(signals.id, workflows.signalId))
    .where(
      and(
        eq(workflows.token, token),
        gt(workflows.id, id),
        inArray(workflows.status, [...RUNNING_STATUSES]),
        inArray(signals.action, ['close', 'reduce']),
      ),
    )
    .limit(1);
  return found.length > 0;
}

/** Applies the workflow's transition table; of two concurrent ends the second is an InvalidTransition. */
export async function changeWorkflowStatus(
  tx: Tx,
  options: {
    id: string;
    status: WorkflowStatus;
    at: Date;
    failure?: FailureExplanation | undefined;
    /** Columns that are written with the status. */
    also?: Partial<typeof workflows.$inferInsert>;
  },
): Promise<void> {
  const { id, status, at, failure, also } = options;
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
  const changed = await tx
    .update(workflows)
    .set({
      status,
      startedAt: sql`coalesce(${workflows.startedAt}, ${at})`,
      completedAt: isWorkflowEnded(status) ? at : null,
      ...details,
      ...also,
    })
    .where(and(eq(workflows.id, id), inArray(workflows.status, statusesBefore(status))))
    .returning({ id: workflows.id });
  if (changed.length > 0) return;
  const row = await findWorkflow(tx, id);
  if (row === null) throw new Error(`there is no workflow ${id}`);
  nextWorkflowStatus(row.status, status);
}

/** Counts one unexpected error of the pipeline and returns the total. */
export async function countFailedTry(db: Queryable, id: string): Promise<number> {
  const [row] = await db
    .update(workflows)
    .set({ failedTries: sql`${workflows.failedTries} + 1` })
    .where(eq(workflows.id, id))
    .returning({ failedTries: workflows.failedTries });
  return row?.failedTries ?? 0;
}

/** Whether a later signal that leaves a position waits for the token of the row of `workflows`. */
const HOLDS_UP_LEAVING = sql<boolean>`exists (
  select from workflows as later join signals as leaving on leaving.id = later.signal_id
  where later.token = workflows.token and later.id > workflows.id
    and later.status in (${sql.raw(RUNNING_STATUSES.map((status) => `'${status}'`).join(', '))})
    and leaving.action not in ('buy', 'sell'))`;

export async function holdsUpLeaving(db: Queryable, workflowId: string): Promise<boolean> {
  const [row] = await db
    .select({ holdsUp: HOLDS_UP_LEAVING })
    .from(workflows)
    .where(eq(workflows.id, workflowId));
  return row?.holdsUp === true;
}

/**
 * Unfinished work, for the start of a program and the sweep: the workflow that holds each token, its next one, that of
 * each owner of own signals in it, and workflows that have not run yet (`pipelines`); workflows with users who have no order yet (`waves`); and users
 * whose order is done, or in progress since `unsettledSince` or longer, while their part is not over: a younger trade
 * has a job of its own. `heldUpSince`: the same where a later signal that leaves a position waits for the token. `own`:
 * the ids of all these workflows that are of own signals.
 */
export async function listUnfinished(
  db: Queryable,
  { unsettledSince, heldUpSince }: { unsettledSince: Date; heldUpSince: Date },
) {
  const isRunning = inArray(workflows.status, [...RUNNING_STATUSES]);
  const fields = {
    workflowId: workflows.id,
    isOwn: workflows.isOwn,
    // The step is written together with the users' jobs: from then on the users are called.
    isWithUsers: sql<boolean>`exists (
      select from workflow_steps where workflow_id = workflows.id
        and step_number = ${pipelineStepNumber('user_processing')})`,
  };
  const first = await db
    .selectDistinctOn([workflows.token], fields)
    .from(workflows)
    .where(isRunning)
    .orderBy(workflows.token, asc(workflows.isOwn), asc(workflows.id));
  // An owner whose turn it is may have no place left: any other owner may be the next.
  const firstOfOwners = await db
    .selectDistinctOn([workflows.token, signals.ownerUserId], fields)
    .from(workflows)
    .innerJoin(signals, eq(signals.id, workflows.signalId))
    .where(and(isRunning, workflows.isOwn))
    .orderBy(workflows.token, signals.ownerUserId, asc(workflows.id));
  const holding = await db
    .select(fields)
    .from(processingSlots)
    .innerJoin(workflows, eq(workflows.id, processingSlots.workflowId))
    .where(isRunning);
  const notRun = await db
    .select({ workflowId: workflows.id, isOwn: workflows.isOwn })
    .from(workflows)
    .where(eq(workflows.status, 'pending'))
    .orderBy(asc(workflows.id))
    .limit(5000);
  const waiting = [...holding, ...first, ...firstOfOwners].filter(({ isWithUsers }) => !isWithUsers);
  const toRun = [...waiting, ...notRun];
  const pipelines = [...new Set(toRun.map(({ workflowId }) => workflowId))].map((workflowId) => ({
    workflowId,
  }));
  const isOpen = and(isRunning, inArray(workflowUsers.outcome, ['waiting', 'running']));
  const isOfPart = and(
    eq(trades.workflowId, workflowUsers.workflowId),
    eq(trades.userId, workflowUsers.userId),
  );
  const open = await db
    .selectDistinct({ workflowId: workflows.id, isOwn: workflows.isOwn })
    .from(workflowUsers)
    .innerJoin(workflows, eq(workflows.id, workflowUsers.workflowId))
    .leftJoin(trades, isOfPart)
    .where(and(isOpen, isNull(trades.id)))
    .orderBy(asc(workflows.id))
    .limit(5000);
  const waves = open.map(({ workflowId }) => ({ workflowId }));
  const unsettled = await db
    .select({ workflowId: workflowUsers.workflowId, userId: workflowUsers.userId })
    .from(workflowUsers)
    .innerJoin(workflows, eq(workflows.id, workflowUsers.workflowId))
    .innerJoin(trades, isOfPart)
    .where(
      and(
        isOpen,
        or(
          eq(trades.state, 'done'),
          lte(trades.createdAt, unsettledSince),
          and(lte(trades.createdAt, heldUpSince), HOLDS_UP_LEAVING),
        ),
      ),
    )
    .orderBy(asc(workflowUsers.workflowId), asc(workflowUsers.position))
    .limit(5000);
  const own = new Set([...toRun, ...open].flatMap(({ workflowId, isOwn }) => (isOwn ? [workflowId] : [])));
  return { pipelines, waves, unsettled, own };
}

/** From now on the first users trade, and the others wait for them. */
export async function startCanary(
  tx: Tx,
  { workflowId, canary }: { workflowId: string; canary: CanarySettings },
): Promise<void> {
  await tx.update(workflows).set({ canary, canaryState: 'waiting' }).where(eq(workflows.id, workflowId));
}

/** The number of the next signal of a strategy with rotation, from 0; a number that is not used changes little. */
export async function takeRotation(db: Queryable, processor: string): Promise<number> {
  const [row] = await db
    .update(strategies)
    .set({ rotations: sql`${strategies.rotations} + 1` })
    .where(eq(strategies.strategy, sql`lower(btrim(${processor}))`))
    .returning({ rotations: strategies.rotations });
  return (row?.rotations ?? 1) - 1;
}
