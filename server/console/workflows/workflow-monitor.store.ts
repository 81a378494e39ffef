import { sql } from 'drizzle-orm';
import type { WorkflowRun } from '#contract/automation.ts';
import { withWorkflowOutcomes } from '#server/engine/records/workflow-outcomes.store.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { readSortedList, type SortedOptions } from '#server/platform/db/list-totals/read-sorted-list.ts';
import { type TimeFilter, timeRange } from '#server/platform/db/list-totals/time-range.ts';
import { isoDates } from '#server/platform/iso-dates.ts';

type Counts = Pick<WorkflowRun, 'action' | 'stepCount' | 'tradeCount' | 'successfulTrades'>;

const NONE: Counts = { action: null, stepCount: 0, tradeCount: 0, successfulTrades: 0 };

/** One page, newest first unless sorted otherwise, and the total number of matching workflows. */
export async function listWorkflows(
  db: Queryable,
  options: TimeFilter &
    Pick<SortedOptions, 'sort' | 'outcome' | 'id'> & {
      processor?: string | undefined;
      status?: string | undefined;
      page: number;
      limit: number;
      now: Date;
    },
): Promise<{ workflows: WorkflowRun[]; total: number }> {
  const { processor, status, sort, outcome, id, page, limit, now } = options;
  const { rows, total } = await readSortedList(db, 'workflows', {
    ...timeRange(options),
    sort,
    outcome,
    id,
    filter: { processor, status },
    page,
    limit,
    now,
  });
  const counted = await db.execute<Counts & { id: string }>(sql`
    select wanted.id, orders.*,
      (select signals.action from workflows join signals on signals.id = workflows.signal_id
        where workflows.id = wanted.id) as action,
      (select count(*)::int from workflow_steps where workflow_id = wanted.id) as "stepCount"
    from unnest(${sql.param(rows.map(({ id }) => id))}::uuid[]) as wanted (id)
    cross join lateral (
      select count(*)::int as "tradeCount", (count(*) filter (where success))::int as "successfulTrades"
      from trades where workflow_id = wanted.id
    ) as orders`);
  const countsOf = new Map(counted.rows.map(({ id, ...counts }) => [id, counts]));
  const workflows = (await withWorkflowOutcomes(db, rows)).map((workflow) => ({
    ...isoDates(workflow),
    ...(countsOf.get(workflow.id) ?? NONE),
    workflowId: workflow.id,
  }));
  return { workflows, total };
}
