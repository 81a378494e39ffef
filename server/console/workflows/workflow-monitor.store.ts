import { count, desc, eq, inArray, sql } from 'drizzle-orm';
import type { WorkflowRow } from '#server/engine/workflow/workflows.store.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { countList } from '#server/platform/db/list-totals/count-list.ts';
import { readPage } from '#server/platform/db/list-totals/read-page.ts';
import { trades, workflowSteps, workflows } from '#server/platform/db/schema.ts';

export interface WorkflowSummary {
  workflow: WorkflowRow;
  stepCount: number;
  tradeCount: number;
  successfulTrades: number;
}

export async function listWorkflows(
  db: Queryable,
  options: {
    processor?: string | undefined;
    status?: string | undefined;
    page: number;
    limit: number;
    now: Date;
  },
): Promise<{ rows: WorkflowSummary[]; total: number }> {
  const { processor, status, page, limit, now } = options;
  const total = await countList(db, 'workflows', { filter: { processor, status }, now });
  const rows = await readPage(db, {
    table: workflows,
    where: [
      processor === undefined ? undefined : eq(workflows.processor, processor),
      status === undefined ? undefined : sql`${workflows.status} = ${status}`,
    ],
    order: [desc(workflows.createdAt), desc(workflows.id)],
    page,
    limit,
  });
  const ids = rows.map(({ id }) => id);
  const steps = await db
    .select({ id: workflowSteps.workflowId, steps: count() })
    .from(workflowSteps)
    .where(inArray(workflowSteps.workflowId, ids))
    .groupBy(workflowSteps.workflowId);
  const orders = await db
    .select({
      id: trades.workflowId,
      total: count(),
      successful: sql<number>`(count(*) filter (where ${trades.success}))::int`,
    })
    .from(trades)
    .where(inArray(trades.workflowId, ids))
    .groupBy(trades.workflowId);
  const stepsOf = new Map(steps.map((one) => [one.id, one.steps]));
  const ordersOf = new Map(orders.map((one) => [one.id, one]));
  return {
    rows: rows.map((workflow) => ({
      workflow,
      stepCount: stepsOf.get(workflow.id) ?? 0,
      tradeCount: ordersOf.get(workflow.id)?.total ?? 0,
      successfulTrades: ordersOf.get(workflow.id)?.successful ?? 0,
    })),
    total,
  };
}
