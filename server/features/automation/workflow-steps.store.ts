import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { StepStatus } from '#domain/workflow-lifecycle.ts';
import type { Queryable } from '#server/platform/database/database.ts';
import { workflowSteps } from '#server/platform/database/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';

export type StepRow = typeof workflowSteps.$inferSelect;

export interface StepKey {
  workflowId: string;
  stepNumber: number;
}

export interface StepStart extends StepKey {
  stepName: string;
  stepType: string;
  userId: string | null;
  inputData: unknown;
  processorName: string;
  at: Date;
}

/** Marks a step as begun. One that was begun before a crash keeps its first start; one that has ended stays so. */
export async function beginStep(db: Queryable, { at, ...step }: StepStart): Promise<void> {
  await db
    .insert(workflowSteps)
    .values({ id: timeOrderedId(), ...step, status: 'processing', startedAt: at })
    .onConflictDoUpdate({
      target: [workflowSteps.workflowId, workflowSteps.stepNumber],
      set: { processorName: step.processorName },
      setWhere: inArray(workflowSteps.status, ['pending', 'processing']),
    });
}

export interface StepEnd extends StepKey {
  status: Exclude<StepStatus, 'pending' | 'processing'>;
  outputData?: unknown;
  metadata?: unknown;
  errorMessage?: string | null;
  at: Date;
}

/** Ends a step that is under way; one that has ended is left as it is. */
export async function endStep(db: Queryable, end: StepEnd): Promise<void> {
  const { workflowId, stepNumber, at, status, outputData, metadata, errorMessage } = end;
  await db
    .update(workflowSteps)
    .set({
      status,
      completedAt: at,
      executionTimeMs: sql`greatest(0, extract(epoch from (${at}::timestamptz - ${workflowSteps.startedAt})) * 1000)::int`,
      errorMessage: errorMessage ?? null,
      ...(outputData === undefined ? {} : { outputData }),
      ...(metadata === undefined ? {} : { metadata }),
    })
    .where(and(isStep({ workflowId, stepNumber }), inArray(workflowSteps.status, ['pending', 'processing'])));
}

/** Rewrites what an ended step says; when it ended stays as it was. */
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

export async function noteOnStep(db: Queryable, step: StepKey, metadata: unknown): Promise<void> {
  await db.update(workflowSteps).set({ metadata }).where(isStep(step));
}

export async function listSteps(db: Queryable, workflowId: string): Promise<StepRow[]> {
  return await db
    .select()
    .from(workflowSteps)
    .where(eq(workflowSteps.workflowId, workflowId))
    .orderBy(asc(workflowSteps.stepNumber));
}

const isStep = ({ workflowId, stepNumber }: StepKey) =>
  and(eq(workflowSteps.workflowId, workflowId), eq(workflowSteps.stepNumber, stepNumber));
