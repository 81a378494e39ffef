import { sql } from 'drizzle-orm';
import { explainFailure } from '#domain/workflow/workflow-lifecycle.ts';
import { storeOutcomes } from '#server/engine/records/workflow-outcomes.store.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { timeOrderedId } from '#server/platform/ids.ts';

export interface RestoredWork {
  /** Workflows that will not continue. */
  endedWorkflows: number;
  /** Orders to look up at the exchange after the start. */
  ordersInDoubt: number;
}

const DETAIL = 'the database was restored from a backup; what was under way then is not traded again';

/**
 * Orders may have been sent after the backup was made. So old signals start nothing, and every unfinished order counts as
 * in doubt (I2, I6): it is looked up by its client order id, takes the state that the exchange reports, and is not sent
 * again. The same holds for a second attempt that may have followed (`restored_at`).
 */
export async function endRestoredWork(db: Queryable, now: Date): Promise<RestoredWork> {
  const at = now.toISOString();
  const orders = await db.execute<{ id: string }>(sql`
    update trades set restored_at = ${at}, due_at = ${at} where state <> 'done' returning id`);
  await db.execute(sql`
    update order_attempts set state = 'unknown', submitted_at = ${at}, lookup_misses = 0
    where state in ('planned', 'submitting', 'unknown')
      and trade_id in (select id from trades where restored_at = ${at})`);
  // A later move may have followed: what rests at the exchange stays.
  await db.execute(sql`
    update protection_moves set state = 'failed', finished_at = ${at},
      message = 'Not moved: the database was restored from a backup'
    where state in ('requested', 'sent')`);
  for (const { id } of orders.rows) {
    await db.execute(sql`
      insert into trade_events (id, trade_id, at, kind, text)
      values (${timeOrderedId()}, ${id}, ${at}, 'timeline',
        'The database was restored from a backup: looking up at the exchange what became of the order')`);
  }

  await endExitPlans(db, at);

  // Users with an order end when that order ends, as usual.
  await db.execute(sql`
    update workflow_users set outcome = 'failed'
    where outcome in ('waiting', 'running') and not exists (
      select from trades where trades.workflow_id = workflow_users.workflow_id
        and trades.user_id = workflow_users.user_id)`);
  const failure = explainFailure('PROCESSING_ERROR', { step: 'Workflow', detail: DETAIL });
  const details = {
    failureType: failure.failureType,
    userFriendlyExplanation: failure.userFriendlyExplanation,
    suggestedAction: 'See at the exchange what became of the signal before you trigger it by hand',
  };
  const ended = await db.execute<{ id: string }>(sql`
    update workflows set status = 'aborted', started_at = coalesce(started_at, ${at}), completed_at = ${at},
      error_message = ${failure.message}, error_details = ${JSON.stringify(details)}::jsonb
    where status in ('pending', 'processing') and not exists (
      select from workflow_users where workflow_id = workflows.id and outcome in ('waiting', 'running'))
    returning id`);
  await db.execute(sql`
    update workflow_steps set status = 'aborted', completed_at = ${at}, error_message = ${DETAIL}
    where status in ('pending', 'processing') and (
      workflow_id in (select id from workflows where completed_at = ${at})
      or (user_id is not null and exists (
        select from workflow_users where workflow_users.workflow_id = workflow_steps.workflow_id
          and workflow_users.user_id = workflow_steps.user_id and outcome = 'failed')))`);
  await storeOutcomes(
    db,
    ended.rows.map(({ id }) => id),
  );
  // What somebody wanted closed then is not closed now.
  await db.execute(sql`update flattens set ended_at = ${at} where ended_at is null`);
  await db.execute(sql`
    delete from processing_slots where workflow_id not in (
      select id from workflows where status in ('pending', 'processing'))`);
  return { endedWorkflows: ended.rows.length, ordersInDoubt: orders.rows.length };
}

const PLAN_ENDED =
  'the database was restored from a backup: parts may have been closed since, apply a plan again';

/**
 * What an exit plan has done since the backup is not known, so it is ended, and said at its position: a part is never
 * closed twice. The row stays, so that a plan applied later takes no closing order of an earlier one for its own.
 */
async function endExitPlans(db: Queryable, at: string): Promise<void> {
  const { rows } = await db.execute<{ id: string }>(sql`
    update trade_exits set plan = '{"takeProfits": []}', revision = revision + 1, planned = null, parts_done = 0,
      best_price = null, problem = null, ended = ${PLAN_ENDED}
    where trade_id in (select id from trades where position_closed_at is null
      and (state <> 'done' or fill_status in ('filled', 'partial')))
    returning trade_id as id`);
  for (const { id } of rows) {
    await db.execute(sql`
      insert into trade_events (id, trade_id, at, kind, text)
      values (${timeOrderedId()}, ${id}, ${at}, 'timeline', ${`Exit plan ended: ${PLAN_ENDED}`})`);
  }
}
