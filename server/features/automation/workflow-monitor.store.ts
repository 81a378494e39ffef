import { and, count, desc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/database/database.ts';
import { trades, workflowSteps, workflows } from '#server/platform/database/schema.ts';
import type { WorkflowRow } from './workflows.store.ts';

export interface WorkflowSummary {
  workflow: WorkflowRow;
  stepCount: number;
  tradeCount: number;
  successfulTrades: number;
}

export async function listWorkflows(
  db: Queryable,
  options: { processor?: string | undefined; status?: string | undefined; page: number; limit: number },
): Promise<{ rows: WorkflowSummary[]; total: number }> {
  const { processor, status, page, limit } = options;
  const where = and(
    ...[
      processor === undefined ? undefined : eq(workflows.processor, processor),
      status === undefined ? undefined : sql`${workflows.status} = ${status}`,
    ].filter((one): one is SQL => one !== undefined),
  );
  const rows = await db
    .select()
    .from(workflows)
    .where(where)
    .orderBy(desc(workflows.createdAt), desc(workflows.id))
    .limit(limit)
    .offset((page - 1) * limit);
  const [counted] = await db.select({ total: count() }).from(workflows).where(where);
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
    total: counted?.total ?? 0,
  };
}

export async function listWorkflowProcessors(db: Queryable): Promise<string[]> {
  const rows = await db
    .selectDistinct({ processor: workflows.processor })
    .from(workflows)
    .orderBy(workflows.processor);
  return rows.map(({ processor }) => processor);
}
