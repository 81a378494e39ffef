import { type SQL, sql } from 'drizzle-orm';
import { OWN_AT_A_TIME, OWN_UNFINISHED } from '#domain/workflow/workflow-lifecycle.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { insertEvents } from '#server/platform/notices/note-event.ts';
import { RUNNING_STATUSES } from './workflows.store.ts';

export type SlotResult =
  | { acquired: true }
  | { acquired: false; waitingFor: string }
  /** The owner has this many earlier signals that are not finished: too many to wait. */
  | { acquired: false; unfinished: number };

/** Literal, so that the planner can use the partial index. */
const isRunning = (table: string) =>
  sql.raw(`${table}.status in (${RUNNING_STATUSES.map((status) => `'${status}'`).join(', ')})`);
const IS_RUNNING = isRunning('workflows');

/** Leaving a position only reduces risk: it waits for no place of its owner. */
const ENTERS = sql.raw(`signals.action in ('buy', 'sell')`);

/** The workflow that has the token. */
const holderOf = (token: string) => sql`
  select workflows.id from processing_slots join workflows on workflows.id = workflow_id
  where processing_slots.token = ${token} and ${IS_RUNNING}`;

/** The next workflow for everybody, in order of creation: it comes before all own ones. */
const nextForAll = (token: string) => sql`
  select id, status from workflows where token = ${token} and ${IS_RUNNING} and not is_own order by id limit 1`;

/** The tokens that owners hold with entries of their own signals. */
const PLACES = sql`
  select signals.owner_user_id as owner_id, workflows.id, workflows.token
  from processing_slots join workflows on workflows.id = workflow_id join signals on signals.id = signal_id
  where is_own and ${IS_RUNNING} and ${ENTERS}`;

/**
 * The next own workflow of a token. Owners take turns: the next one follows the owner of the last. An entry whose owner
 * has no place left is passed over.
 */
const nextOwn = (token: string, lastOwner: SQL) => sql`
  select workflows.id, workflows.status from workflows join signals on signals.id = signal_id
  where workflows.token = ${token} and ${IS_RUNNING} and is_own and not (${ENTERS} and (
    select count(*) from (${PLACES}) as places where places.owner_id = signals.owner_user_id) >= ${OWN_AT_A_TIME})
  order by coalesce(signals.owner_user_id <= ${lastOwner}, false), signals.owner_user_id, workflows.id limit 1`;

/** A look-up for each row: there is no index of signals by owner. */
const ownerOfSignal = (which: SQL) => sql`(
  select owner_user_id from signals where signals.id = workflows.signal_id and ${which})`;

/** The owner of the last own workflow that had the token. */
const lastOwnerOf = (token: string) =>
  sql`(select last_owner_id from processing_slots where token = ${token})`;

/** One workflow per token at a time, in turn; returns the workflow to wait for. The holder goes on holding it. */
export async function acquireSlot(
  tx: Tx,
  { workflowId, token, at }: { workflowId: string; token: string; at: Date },
): Promise<SlotResult> {
  const [, { rows }] = await Promise.all([
    lockSlot(tx, token),
    tx
      .execute<{ id: string }>(sql`
        with holder as (${holderOf(token)}), before as (
          select id from workflows
          where token = ${token} and ${IS_RUNNING} and not is_own and id < ${workflowId}
          order by id limit 1
        ), ahead as (
          select id from (
            select 1 as place, id from holder union all select 2, id from before
          ) as others
          where id <> ${workflowId} and ${workflowId} not in (select id from holder)
          order by place limit 1
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

/**
 * The same for a workflow of a user's own signal: behind those for everybody, in turn with other owners, and with at
 * most so many at a time of its owner, over all instances. Workflows at work wait for nobody, and one that is ahead in its token waits
 * only for such, so that no circle of waits can come up.
 */
export async function acquireOwnSlot(
  tx: Tx,
  options: { workflowId: string; token: string; at: Date; ownerId: string; enters: boolean },
): Promise<SlotResult> {
  const { workflowId, token, at, ownerId, enters } = options;
  const [, , { rows }] = await Promise.all([
    lockSlot(tx, token),
    // Always the token first: what ends a workflow locks tokens only.
    tx
      .execute(sql`select pg_advisory_xact_lock(hashtextextended('owner:' || ${ownerId}::text, 0))`)
      .execute(),
    tx
      .execute<{ waitingFor: string | null; unfinished: number }>(sql`
        with holder as materialized (${holderOf(token)}), has as (
          select ${workflowId} in (select id from holder) as token
        ), earlier as (
          select count(*)::int as unfinished from workflows
          where is_own and ${IS_RUNNING} and id < ${workflowId} and ${ownerOfSignal(sql`(${ENTERS}) = ${enters}`)} = ${ownerId}
        ), places as materialized (
          select id from (${PLACES}) as places where owner_id = ${ownerId}
        ), ahead as (
          select id from (
            select 1 as place, id from holder
            union all (select 2, id from (${nextForAll(token)}) as for_all)
            union all (
              select 3, id from places
              where ${enters} and (select count(*) from places) >= ${OWN_AT_A_TIME} order by id limit 1)
            union all (select 4, id from (${nextOwn(token, lastOwnerOf(token))}) as own)
          ) as others
          where id <> ${workflowId} and not (select token from has)
          order by place limit 1
        ), refused as (
          select unfinished from earlier where unfinished >= ${OWN_UNFINISHED} and not (select token from has)
        ), taken as (
          insert into processing_slots (token, workflow_id, acquired_at, last_owner_id)
          select ${token}, ${workflowId}, ${at}::timestamptz, ${ownerId}::uuid
          where not exists (select from ahead) and not exists (select from refused)
          on conflict (token) do update set workflow_id = excluded.workflow_id, acquired_at = excluded.acquired_at,
            last_owner_id = excluded.last_owner_id
        )
        select (select id from ahead) as "waitingFor", (select unfinished from refused) as unfinished`)
      .execute(),
  ]);
  const { waitingFor = null, unfinished = null } = rows[0] ?? {};
  if (unfinished !== null) return { acquired: false, unfinished };
  return waitingFor === null ? { acquired: true } : { acquired: false, waitingFor };
}

/** A workflow that may be able to go on now. */
export interface NextWorkflow {
  workflowId: string;
  isOwn: boolean;
}

/**
 * Frees the token of a workflow that has ended, and notes its end; returns the workflows that may go on: the next one of
 * the token if it waits, and the next entries of an own signal's owner whose token is free. One that has not run yet has
 * its own job.
 */
export async function releaseSlot(
  tx: Tx,
  { workflowId, token, at }: { workflowId: string; token: string; at: Date },
): Promise<NextWorkflow[]> {
  // A token of own signals keeps its row: whose turn was the last.
  const [, { rows }] = await Promise.all([
    lockSlot(tx, token),
    tx
      .execute<{ id: string; isOwn: boolean }>(sql`
        with freed as (
          delete from processing_slots where token = ${token} and workflow_id = ${workflowId} and last_owner_id is null
        ), noted as (
          ${insertEvents([{ code: 'workflow_ended', workflowId, at }])}
        ), of_token as (
          select id, status, false as is_own from (${nextForAll(token)}) as for_all
          union all (select id, status, true from (${nextOwn(token, lastOwnerOf(token))}) as own)
          order by is_own limit 1
        ), owner as materialized (
          select ${ownerOfSignal(sql`true`)} as id from workflows where id = ${workflowId} and is_own
        ), of_owner as (
          select workflows.id from owner cross join workflows
          where is_own and ${IS_RUNNING} and token <> ${token} and ${ownerOfSignal(ENTERS)} = owner.id and not exists (
            select from processing_slots join workflows as busy on busy.id = workflow_id
            where processing_slots.token = workflows.token and ${isRunning('busy')})
          order by workflows.id limit ${OWN_AT_A_TIME}
        )
        select id, is_own as "isOwn" from of_token where status = 'processing'
        union select id, true from of_owner`)
      .execute(),
  ]);
  return rows.map(({ id, isOwn }) => ({ workflowId: id, isOwn }));
}

/** Held until the transaction ends: changes to a token's slot are serialized. */
const lockSlot = (tx: Tx, token: string) =>
  tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('slot:' || ${token}::text, 0))`).execute();
