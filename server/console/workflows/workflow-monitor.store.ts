import { sql } from 'drizzle-orm';
import type { WorkflowRun } from '#contract/automation.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { readList } from '#server/platform/db/list-totals/read-list.ts';
import { isoDates } from '#server/platform/iso-dates.ts';

type Counts = Pick<WorkflowRun, 'stepCount' | 'tradeCount' | 'successfulTrades'>;

const NONE: Counts = { stepCount: 0, tradeCount: 0, successfulTrades: 0 };

/** One page, newest first, and the total number of matching workflows. */
export async function listWorkflows(
  db: Queryable,
  options: {
    processor?: string | undefined;
    status?: string | undefined;
    page: number;
    limit: number;
    now: Date;
  },
): Promise<{ workflows: WorkflowRun[]; total: number }> {
  const { processor, status } = options;
  const { rows, total } = await readList(db, 'workflows', { ...options, filter: { processor, status } });
  const counted = await db.execute<Counts & { id: string }>(sql`
    select wanted.id, orders.*,
      (select count(*)::int from workflow_steps where workflow_id = wanted.id) as "stepCount"
    from unnest(${sql.param(rows.map(({ id }) => id))}::uuid[]) as wanted (id)
    cross join lateral (
      select count(*)::int as "tradeCount", (count(*) filter (where success))::int as "successfulTrades"
      from trades where workflow_id = wanted.id
    ) as orders`);
  const countsOf = new Map(counted.rows.map(({ id, ...counts }) => [id, counts]));
  const workflows = rows.map((workflow) => ({
    ...isoDates(workflow),
    ...(countsOf.get(workflow.id) ?? NONE),
    workflowId: workflow.id,
  }));
  return { workflows, total };
}
