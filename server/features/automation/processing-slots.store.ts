import { inArray, sql } from 'drizzle-orm';
import type { WorkflowStatus } from '#domain/workflow-lifecycle.ts';
import type { Tx } from '#server/platform/database/database.ts';
import { workflows } from '#server/platform/database/schema.ts';
import { RUNNING_STATUSES } from './workflows.store.ts';

export type SlotResult = { acquired: true } | { acquired: false; waitingFor: string };

const isRunning = inArray(workflows.status, [...RUNNING_STATUSES]);

/** One workflow of a token at a time, in the order of their creation; says for whom to wait. */
export async function acquireSlot(
  tx: Tx,
  { workflowId, token, at }: { workflowId: string; token: string; at: Date },
): Promise<SlotResult> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`slot:${token}`}, 0))`);
  const { rows } = await tx.execute<{ id: string }>(sql`
    with older as (
      select id from workflows
      where token = ${token} and ${isRunning} and id <> ${workflowId}
        and (id < ${workflowId} or id = (select workflow_id from processing_slots where token = ${token}))
      order by id limit 1
    ), taken as (
      insert into processing_slots (token, workflow_id, acquired_at)
      select ${token}, ${workflowId}, ${at}::timestamptz where not exists (select from older)
      on conflict (token) do update set workflow_id = excluded.workflow_id, acquired_at = excluded.acquired_at
    )
    select id from older`);
  const [older] = rows;
  return older === undefined ? { acquired: true } : { acquired: false, waitingFor: older.id };
}

/**
 * Frees the token and says whom to wake: the next workflow, if it has found the token taken. One that has not run yet
 * has its own call still to come, which asks for the token after this transaction, or was seen here.
 */
export async function releaseSlot(
  tx: Tx,
  { workflowId, token }: { workflowId: string; token: string },
): Promise<string | null> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`slot:${token}`}, 0))`);
  const { rows } = await tx.execute<{ id: string; status: WorkflowStatus }>(sql`
    with freed as (delete from processing_slots where token = ${token} and workflow_id = ${workflowId})
    select id, status from workflows
    where token = ${token} and ${isRunning} and id <> ${workflowId}
    order by id limit 1`);
  const [next] = rows;
  return next?.status === 'processing' ? next.id : null;
}
