import { sql } from 'drizzle-orm';
import {
  type Decision,
  type DecisionsAnswer,
  type DecisionsQuery,
  MOST_DECISIONS,
} from '#contract/decisions.ts';
import { reasonOfSkip } from '#domain/workflow/denials.ts';
import { failureOfPart } from '#server/engine/records/workflow-outcomes.store.ts';
import type { Db } from '#server/platform/db/database.ts';

interface DecisionRow extends Omit<Decision, 'at'> {
  [field: string]: unknown;
  at: Date;
  total: number;
}

const TRADED = sql`('filled', 'partial')`;

/**
 * Decisions on the user, newest first, among the newest `MOST_DECISIONS` runs: a filter reads no more than these. Signals
 * of administrators are meant for everybody, others for their owner.
 */
export async function listUserDecisions(
  db: Db,
  { user, query }: { user: { id: string; createdAt: Date }; query: DecisionsQuery },
): Promise<DecisionsAnswer> {
  const { page, limit, outcome, reason = '' } = query;
  const wanted =
    outcome === undefined
      ? sql`true`
      : outcome === 'traded'
        ? sql`result in ${TRADED}`
        : sql`result not in ('filled', 'partial', 'running')`;
  const hasReason = reason === '' ? sql`true` : sql`position(lower(${reason}) in lower(reason)) > 0`;
  const { rows } = await db.execute<DecisionRow>(sql`
    with runs as (
      select workflows.*, signals.action, signals.price, signals.timeframe
      from workflows join signals on signals.id = workflows.signal_id
      where workflows.created_at >= ${user.createdAt}
        and (signals.from_admin or signals.owner_user_id = ${user.id})
      order by workflows.created_at desc, workflows.id desc
      limit ${MOST_DECISIONS}
    ), seen as (
      select runs.*, part.status as decided, part.reason as denial, failure.error_message as failure,
        trades.fill_status, trades.filled_quantity, trades.average_price, part.outcome as user_outcome,
        runs.status in ('pending', 'processing') as is_open
      from runs
      left join workflow_users as part on part.workflow_id = runs.id and part.user_id = ${user.id}
      left join trades on trades.workflow_id = runs.id and trades.user_id = ${user.id}
      left join lateral ${failureOfPart} on true
    ), decided as (
      select *,
        case
          when user_outcome = 'success' then case when fill_status = 'partial' then 'partial' else 'filled' end
          when user_outcome = 'skipped' then 'skipped'
          when user_outcome = 'failed' then 'not_filled'
          when decided = 'not eligible' then 'not_eligible'
          when is_open then 'running'
          when decided = 'eligible' then 'not_filled'
          else 'not_considered'
        end as result,
        case
          when user_outcome = 'success' then null
          when user_outcome in ('skipped', 'failed') then failure
          when decided = 'not eligible' then denial
          when is_open then null
          else coalesce(error_message, 'The workflow did not consider this user')
        end as why
      from seen
    ), listed as (
      select id, signal_id, created_at, trigger, token, action, price, processor, timeframe, result, why as reason,
        filled_quantity, average_price
      from decided
    ), wanted as materialized (
      select * from listed where ${wanted} and ${hasReason}
    )
    select (select count(*)::int from wanted) as total, id as "workflowId", signal_id as "signalId",
      created_at as at, trigger, token, action, price::text, processor, timeframe, result, reason,
      case when result in ${TRADED} then filled_quantity::text end as "filledQuantity",
      case when result in ${TRADED} then average_price::text end as "averagePrice"
    from (select 1) as always
    left join lateral (
      select * from wanted order by created_at desc, id desc limit ${limit} offset ${(page - 1) * limit}
    ) as page on true`);
  const total = rows[0]?.total ?? 0;
  const decisions = rows
    .filter(({ workflowId }) => workflowId !== null)
    .map(({ total: _total, at, ...row }) => ({
      ...row,
      at: new Date(at).toISOString(),
      reason: row.reason === null ? null : reasonOfSkip(row.reason),
    }));
  return { decisions: decisions as Decision[], total };
}
