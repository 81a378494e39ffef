import { sql } from 'drizzle-orm';
import type { Signal } from '#contract/signals.ts';
import type { SignalAction } from '#domain/exits/signal-action.ts';
import { timeframeFilter } from '#server/console/price-logs/spellings.ts';
import { readOutcomes, type StoredOutcome } from '#server/engine/records/workflow-outcomes.store.ts';
import { STANDS_FOR_SIGNAL } from '#server/engine/records/workflows.store.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { readSortedList, type SortedOptions } from '#server/platform/db/list-totals/read-sorted-list.ts';
import { type TimeFilter, timeRange } from '#server/platform/db/list-totals/time-range.ts';
import { isoDates } from '#server/platform/iso-dates.ts';

interface SignalFilter extends TimeFilter, Pick<SortedOptions, 'sort' | 'outcome' | 'id'> {
  token?: string | undefined;
  action?: SignalAction | undefined;
  processor?: string | undefined;
  timeframe?: string | undefined;
}

/** One page, newest first unless sorted otherwise, and the total number of matching signals. */
export async function listSignals(
  db: Queryable,
  options: { filter: SignalFilter; page: number; limit: number; now: Date },
): Promise<{ signals: Signal[]; total: number }> {
  const { until, from, to, order, sort, outcome, id, ...values } = options.filter;
  const timeframe = await timeframeFilter(db, 'signals', values.timeframe);
  const filter = { ...values, timeframe };
  const { rows, total } = await readSortedList(db, 'signals', {
    ...options,
    ...timeRange({ until, from, to, order }),
    sort,
    outcome,
    id,
    filter,
  });
  return { signals: await withOutcomes(db, rows), total };
}

type Counted = Omit<Signal, Exclude<keyof SignalRow, 'id'> | 'outcome'>;

/**
 * The fields of a signal's row in the list: status, outcome and user counts of the workflow that stands for it, trade
 * counts over all its trades (including calculator orders), and the stop and target of that workflow's first user.
 */
export async function withOutcomes(db: Queryable, signals: SignalRow[]): Promise<Signal[]> {
  const ids = sql.param(signals.map(({ id }) => id));
  const { rows } = await db.execute<
    Counted & { stored: Omit<StoredOutcome, 'id' | 'status' | 'errorMessage'> }
  >(sql`
    select wanted.id, shown.id as "workflowId", shown.status as "workflowStatus",
      shown.error_message as "workflowError", shown.trigger as "workflowTrigger",
      coalesce(shown.eligible_users_count, 0) as "eligibleUsersCount",
      coalesce(shown.successful_users_count, 0) as "successfulUsersCount",
      json_build_object('outcome', shown.outcome, 'successfulUsersCount', shown.successful_users_count,
        'failedUsersCount', shown.failed_users_count, 'skippedUsersCount', shown.skipped_users_count,
        'topReason', shown.top_reason) as stored,
      orders.total as "totalTrades", orders.successful as "successfulTrades",
      runs.automatic as "automaticCount", runs.manual as "manualCount",
      first.position ->> 'stopLoss' as "stopLoss", first.position ->> 'takeProfit' as "takeProfit"
    from unnest(${ids}::uuid[]) as wanted (id)
    left join lateral (
      select * from workflows where signal_id = wanted.id order by ${STANDS_FOR_SIGNAL} limit 1
    ) as shown on true
    left join lateral (
      select logs.position
      from workflow_users as users
      join position_generator_logs as logs on logs.workflow_id = users.workflow_id and logs.user_id = users.user_id
      where users.workflow_id = shown.id and logs.success
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
  const shown = rows.flatMap(({ workflowId, workflowStatus, workflowError, stored }) =>
    workflowId === null
      ? []
      : [
          {
            ...stored,
            id: workflowId,
            status: workflowStatus as StoredOutcome['status'],
            errorMessage: workflowError,
          },
        ],
  );
  const outcomes = await readOutcomes(db, shown);
  const counts = new Map(rows.map(({ stored: _stored, ...row }) => [row.id, row]));
  return signals.flatMap((signal) => {
    const row = counts.get(signal.id);
    if (row === undefined) return [];
    const outcome = row.workflowId === null ? null : (outcomes.get(row.workflowId) ?? null);
    return [{ ...isoDates(signal), ...row, outcome }];
  });
}
