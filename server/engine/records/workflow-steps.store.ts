import { and, asc, eq, lte, or, type SQL, sql } from 'drizzle-orm';
import {
  PER_USER_STEPS,
  type PerUserStepType,
  PIPELINE_STEPS,
  type PipelineStepType,
  pipelineStepNumber,
  type StepStatus,
  userStepNumber,
} from '#domain/workflow/workflow-lifecycle.ts';
import type { Config } from '#server/platform/config/config.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { workflowSteps } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';

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
  errorMessage?: string | null;
  completedAt?: Date;
}

/** Capped at the integer column's maximum, 24.8 days: a step that could not end would keep its token for good. */
const tookMs = (start: SQL, end: SQL): SQL =>
  sql`least(2147483647, greatest(0, extract(epoch from ${end} - ${start}) * 1000))::int`;

/**
 * Writes steps in one statement. A step that began before a crash keeps its start; a step that has ended stays
 * unchanged.
 */
export async function writeSteps(db: Pick<Queryable, 'execute'>, steps: readonly StepWrite[]): Promise<void> {
  if (steps.length === 0) return;
  const rows = JSON.stringify(steps.map((step) => ({ id: timeOrderedId(), ...step })));
  await db.execute(sql`
    insert into workflow_steps as known (id, workflow_id, step_number, step_name, step_type, user_id, status, input_data,
      output_data, metadata, error_message, started_at, completed_at, execution_time_ms, processor_name)
    select id, "workflowId", "stepNumber", "stepName", "stepType", "userId", status, "inputData",
      "outputData", metadata, "errorMessage", at, "completedAt", ${tookMs(sql`at`, sql`"completedAt"`)}, "processorName"
    from json_to_recordset(${rows}::json) as step (
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
    where known.status in ('pending', 'processing')`);
}

/** The end of a step in progress; without an end it is still in progress. */
export interface StepEnd {
  status: Exclude<StepStatus, 'pending' | 'processing'>;
  outputData?: unknown;
  errorMessage?: string | null;
  at: Date;
}

export const endedStep = (start: StepStart, { at, ...end }: StepEnd): StepWrite => ({
  ...start,
  ...end,
  completedAt: at,
});

export const startedStep = (start: StepStart): StepWrite => ({ ...start, status: 'processing' });

/** A step of the pipeline as it begins. */
export const pipelineStep = (
  type: PipelineStepType,
  step: Pick<StepStart, 'workflowId' | 'inputData' | 'processorName' | 'at'>,
): StepStart => {
  const info = PIPELINE_STEPS.find((one) => one.type === type);
  return {
    ...step,
    stepNumber: pipelineStepNumber(type),
    stepName: info?.name ?? type,
    stepType: type,
    userId: null,
  };
};

/** A user's part of a workflow. */
export interface UserTask {
  workflowId: string;
  userId: string;
  /** The user's place in the order of trading, from 0. */
  position: number;
}

/** A step of a user's part as it begins. */
export const userStep = (
  type: PerUserStepType,
  { workflowId, userId, position }: UserTask,
  step: Pick<StepStart, 'inputData' | 'processorName' | 'at'>,
): StepStart => ({
  ...step,
  workflowId,
  stepNumber: userStepNumber(position, type),
  stepName: PER_USER_STEPS.find((one) => one.type === type)?.name ?? type,
  stepType: type,
  userId,
});

/** The instance that worked on a step, as the monitor shows it. */
export const processorName = ({ config }: { config: Pick<Config, 'instanceId'> }): string =>
  `automation@${config.instanceId.slice(0, 8)}`;

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
