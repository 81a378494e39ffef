import { and, asc, eq, inArray, lte, or, type SQL, sql } from 'drizzle-orm';
import { PIPELINE_STEPS, type StepStatus } from '#domain/workflow/workflow-lifecycle.ts';
import { writtenOnce } from '#server/platform/db/built-once.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { workflowSteps } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import {
  heldLease,
  type Lease,
  LeaseLostError,
  type LeaseValues,
  leaseOf,
} from '#server/platform/jobs/leases.ts';

export type StepRow = typeof workflowSteps.$inferSelect;

interface StepKey {
  workflowId: string;
  stepNumber: number;
}

export interface StepStart extends StepKey {
  stepName: string;
  stepType: string;
  userId: string | null;
  inputData: unknown;
  processorName: string;
  /** When the step began. */
  at: Date;
}

/** A step in progress or at its end. */
export interface StepWrite extends StepStart {
  status: Exclude<StepStatus, 'pending'>;
  outputData?: unknown;
  metadata?: unknown;
  errorMessage?: string;
  completedAt?: Date;
}

/** Capped at the integer column's maximum, 24.8 days: a step that could not end would keep its token for good. */
const tookMs = (start: SQL, end: SQL): SQL =>
  sql`least(2147483647, greatest(0, extract(epoch from ${end} - ${start}) * 1000))::int`;

const write = writtenOnce<LeaseValues & { rows: string }>()(
  (value) => sql`
    with ${heldLease(leaseOf(value))}, written as (
      insert into workflow_steps as known (id, workflow_id, step_number, step_name, step_type, user_id, status, input_data,
        output_data, metadata, error_message, started_at, completed_at, execution_time_ms, processor_name)
      select id, "workflowId", "stepNumber", "stepName", "stepType", "userId", status, "inputData",
        "outputData", metadata, "errorMessage", at, "completedAt", ${tookMs(sql`at`, sql`"completedAt"`)}, "processorName"
      from held, json_to_recordset(${value('rows')}::json) as step (
        id uuid, "workflowId" uuid, "stepNumber" int, "stepName" text, "stepType" text, "userId" uuid, status text,
        "inputData" jsonb, "outputData" jsonb, metadata jsonb, "errorMessage" text, at timestamptz,
        "completedAt" timestamptz, "processorName" text
      )
      on conflict (workflow_id, step_number) do update set
        status = excluded.status,
        output_data = coalesce(excluded.output_data, known.output_data),
        metadata = coalesce(excluded.metadata, known.metadata),
        error_message = excluded.error_message,
        completed_at = excluded.completed_at,
        execution_time_ms = ${tookMs(sql`known.started_at`, sql`excluded.completed_at`)},
        processor_name = excluded.processor_name
      where known.status in ('pending', 'processing')
    )
    select 1 from held`,
);

/**
 * Writes steps in one statement, fenced by the lease: throws LeaseLostError and writes nothing if it was taken over.
 * A step that began before a crash keeps its start; a step that has ended stays unchanged.
 */
export async function writeSteps(db: Queryable, lease: Lease, steps: readonly StepWrite[]): Promise<void> {
  const rows = JSON.stringify(steps.map((step) => ({ id: timeOrderedId(), ...step })));
  const { rows: held } = await write(db, { ...lease, rows });
  if (held.length === 0) throw new LeaseLostError(lease.key);
}

interface StepEnd extends StepKey {
  status: Exclude<StepStatus, 'pending' | 'processing'>;
  outputData?: unknown;
  metadata?: unknown;
  errorMessage?: string | null;
  at: Date;
}

/** Ends a step in progress; a step that has ended stays unchanged. */
export async function endStep(db: Queryable, end: StepEnd): Promise<void> {
  const { workflowId, stepNumber, at, status, outputData, metadata, errorMessage } = end;
  await db
    .update(workflowSteps)
    .set({
      status,
      completedAt: at,
      executionTimeMs: tookMs(sql`${workflowSteps.startedAt}`, sql`${at}::timestamptz`),
      errorMessage: errorMessage ?? null,
      ...(outputData === undefined ? {} : { outputData }),
      ...(metadata === undefined ? {} : { metadata }),
    })
    .where(and(isStep({ workflowId, stepNumber }), inArray(workflowSteps.status, ['pending', 'processing'])))
    .execute();
}

/** Rewrites the result of an ended step; its end time stays. */
export async function correctStep(
  db: Queryable,
  correction: StepKey & Pick<StepRow, 'status' | 'outputData' | 'errorMessage'>,
): Promise<void> {
  const { workflowId, stepNumber, status, outputData, errorMessage } = correction;
  await db
    .update(workflowSteps)
    .set({ status, outputData, errorMessage })
    .where(isStep({ workflowId, stepNumber }));
}

export async function findStep(db: Queryable, key: StepKey): Promise<StepRow | null> {
  const [row] = await db.select().from(workflowSteps).where(isStep(key));
  return row ?? null;
}

/** All steps: three per user, possibly for thousands of users. */
export async function listSteps(db: Queryable, workflowId: string): Promise<StepRow[]> {
  return await db
    .select()
    .from(workflowSteps)
    .where(eq(workflowSteps.workflowId, workflowId))
    .orderBy(asc(workflowSteps.stepNumber));
}

/** The pipeline's steps, and this user's per-user steps. */
export async function listUserSteps(
  db: Queryable,
  { workflowId, userId }: { workflowId: string; userId: string },
): Promise<StepRow[]> {
  return await db
    .select()
    .from(workflowSteps)
    .where(
      and(
        eq(workflowSteps.workflowId, workflowId),
        or(lte(workflowSteps.stepNumber, PIPELINE_STEPS.length), eq(workflowSteps.userId, userId)),
      ),
    )
    .orderBy(asc(workflowSteps.stepNumber));
}

const isStep = ({ workflowId, stepNumber }: StepKey) =>
  and(eq(workflowSteps.workflowId, workflowId), eq(workflowSteps.stepNumber, stepNumber));
