import { sql } from 'drizzle-orm';
import type { WorkflowStatus } from '#domain/workflow/workflow-lifecycle.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { insertEvents } from '#server/platform/notices/note-event.ts';
import { RUNNING_STATUSES } from './workflows.store.ts';

export type SlotResult = { acquired: true } | { acquired: false; waitingFor: string };

/** Literal, so that the planner can use the partial index. */
const IS_RUNNING = sql.raw(`status in (${RUNNING_STATUSES.map((status) => `'${status}'`).join(', ')})`);

/** The order of turns: workflows for everybody before those for one user, each in order of creation. */
const TURN = sql.raw('is_own, id');

/** One workflow per token at a time, in turn; returns the workflow to wait for. */
export async function acquireSlot(
  tx: Tx,
  { workflowId, token, at }: { workflowId: string; token: string; at: Date },
): Promise<SlotResult> {
  const [, { rows }] = await Promise.all([
    lockSlot(tx, token),
    tx
      .execute<{ id: string }>(sql`
        with holding as (
          select id from workflows
          where id = (select workflow_id from processing_slots where token = ${token})
            and ${IS_RUNNING} and id <> ${workflowId}
        ), before as (
          select id from workflows
          where token = ${token} and ${IS_RUNNING}
            and (${TURN}) < (select ${TURN} from workflows where id = ${workflowId})
          order by ${TURN} limit 1
        ), ahead as (
          select id from holding union all select id from before limit 1
        ), taken as (
          insert into processing_slots (token, workflow_id, acquired_at)
          select ${token}, ${workflowId}, ${at}::timestamptz where not exists (select from ahead)
          on conflict (token) do update set workflow_id = excluded.workflow_id, acquired_at = excluded.acquired_at
        )
        select id from ahead`)
      .execute(),
  ]);
  const [ahead] = rows;
  return ahead === undefined ? { acquired: true } : { acquired: false, waitingFor: ahead.id };
}

/** Frees the token of a workflow that has ended, and notes its end; returns the next workflow if it waits for the token. One that has not run yet has its own job. */
export async function releaseSlot(
  tx: Tx,
  { workflowId, token, at }: { workflowId: string; token: string; at: Date },
): Promise<string | null> {
  const [, { rows }] = await Promise.all([
    lockSlot(tx, token),
    tx
      .execute<{ id: string; status: WorkflowStatus }>(sql`
        with freed as (
          delete from processing_slots where token = ${token} and workflow_id = ${workflowId}
        ), noted as (
          ${insertEvents([{ code: 'workflow_ended', workflowId, at }])}
        )
        select id, status from workflows
        where token = ${token} and ${IS_RUNNING} and id <> ${workflowId}
        order by ${TURN} limit 1`)
      .execute(),
  ]);
  const [next] = rows;
  return next?.status === 'processing' ? next.id : null;
}

/** Held until the transaction ends: changes to a token's slot are serialized. */
const lockSlot = (tx: Tx, token: string) =>
  tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('slot:' || ${token}::text, 0))`).execute();
