import { sql } from 'drizzle-orm';
import type { Signal } from '#contract/signals.ts';
import { timeframeFilter } from '#server/console/price-logs/spellings.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { readList } from '#server/platform/db/list-totals/read-list.ts';
import { isoDates } from '#server/platform/iso-dates.ts';

interface SignalFilter {
  token?: string | undefined;
  action?: 'buy' | 'sell' | undefined;
  processor?: string | undefined;
  timeframe?: string | undefined;
  until?: Date | undefined;
}

/** One page, newest first, and the total number of matching signals. */
export async function listSignals(
  db: Queryable,
  options: { filter: SignalFilter; page: number; limit: number; now: Date },
): Promise<{ signals: Signal[]; total: number }> {
  const { until, ...values } = options.filter;
  const timeframe = await timeframeFilter(db, 'signals', values.timeframe);
  const filter = { ...values, timeframe };
  const { rows, total } = await readList(db, 'signals', { ...options, filter, until });
  return { signals: await withOutcomes(db, rows), total };
}

/**
 * The fields of a signal's row in the list: status and user counts of its newest workflow, trade counts over all its
 * trades (including calculator orders), and the stop and target of the newest workflow's first user.
 */
export async function withOutcomes(db: Queryable, signals: SignalRow[]): Promise<Signal[]> {
  const ids = sql.param(signals.map(({ id }) => id));
  const { rows } = await db.execute<Omit<Signal, Exclude<keyof SignalRow, 'id'>>>(sql`
    select wanted.id, newest.id as "workflowId", newest.status as "workflowStatus",
      newest.error_message as "workflowError",
      coalesce(newest.eligible_users_count, 0) as "eligibleUsersCount",
      coalesce(newest.successful_users_count, 0) as "successfulUsersCount",
      orders.total as "totalTrades", orders.successful as "successfulTrades",
      runs.automatic as "automaticCount", runs.manual as "manualCount",
      first.position ->> 'stopLoss' as "stopLoss", first.position ->> 'takeProfit' as "takeProfit"
    from unnest(${ids}::uuid[]) as wanted (id)
    left join lateral (
      select * from workflows where signal_id = wanted.id order by workflows.id desc limit 1
    ) as newest on true
    left join lateral (
      select logs.position
      from workflow_users as users
      join position_generator_logs as logs on logs.workflow_id = users.workflow_id and logs.user_id = users.user_id
      where users.workflow_id = newest.id and logs.success
      order by users.position limit 1
    ) as first on true
    cross join lateral (
      select (count(*) filter (where trigger = 'automatic'))::int as automatic,
        (count(*) filter (where trigger = 'manual'))::int as manual
      from workflows where signal_id = wanted.id
    ) as runs
    cross join lateral (
      select count(*)::int as total, (count(*) filter (where success))::int as successful
      from trades where signal_id = wanted.id
    ) as orders`);
  const outcomes = new Map(rows.map((row) => [row.id, row]));
  return signals.flatMap((signal) => {
    const outcome = outcomes.get(signal.id);
    return outcome === undefined ? [] : [{ ...isoDates(signal), ...outcome }];
  });
}
