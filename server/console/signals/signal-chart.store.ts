import { and, asc, desc, eq, gt, isNotNull, sql } from 'drizzle-orm';
import type { ChartFill, ChartLevels } from '#contract/charts.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import {
  orderAttempts,
  positionGeneratorLogs,
  trades,
  users,
  workflows,
  workflowUsers,
} from '#server/platform/db/schema.ts';

/** Entry, stop and target of the first user by trade order in the signal's newest workflow. */
export async function findFirstLevels(db: Queryable, signalId: string): Promise<ChartLevels | null> {
  const newest = db
    .select({ id: workflows.id })
    .from(workflows)
    .where(eq(workflows.signalId, signalId))
    .orderBy(desc(workflows.id))
    .limit(1);
  const level = (name: keyof ChartLevels) =>
    sql<string>`${positionGeneratorLogs.position} ->> ${sql.raw(`'${name}'`)}`;
  const [row] = await db
    .select({
      entryPrice: level('entryPrice'),
      stopLoss: level('stopLoss'),
      takeProfit: level('takeProfit'),
    })
    .from(workflowUsers)
    .innerJoin(
      positionGeneratorLogs,
      and(
        eq(positionGeneratorLogs.workflowId, workflowUsers.workflowId),
        eq(positionGeneratorLogs.userId, workflowUsers.userId),
      ),
    )
    .where(and(sql`${workflowUsers.workflowId} = (${newest})`, positionGeneratorLogs.success))
    .orderBy(asc(workflowUsers.position))
    .limit(1);
  return row ?? null;
}

/** What the signal's orders filled, one entry an order (a trade may need two), oldest first. */
export async function listSignalFills(db: Queryable, signalId: string): Promise<ChartFill[]> {
  // An order that is still under way has no end; what it filled so far was seen after it had left.
  const time = sql<Date>`coalesce(${orderAttempts.finishedAt}, ${orderAttempts.submittedAt}, ${trades.createdAt})`;
  const rows = await db
    .select({
      time: time.mapWith(orderAttempts.finishedAt),
      averagePrice: orderAttempts.averagePrice,
      quantity: orderAttempts.filledQuantity,
      side: trades.side,
      username: users.username,
    })
    .from(trades)
    .innerJoin(orderAttempts, eq(orderAttempts.tradeId, trades.id))
    .innerJoin(users, eq(users.id, trades.userId))
    .where(
      and(
        eq(trades.signalId, signalId),
        gt(orderAttempts.filledQuantity, '0'),
        isNotNull(orderAttempts.averagePrice),
      ),
    )
    .orderBy(asc(time), asc(users.username), asc(orderAttempts.attempt));
  return rows.flatMap(({ time: at, averagePrice, ...fill }) =>
    averagePrice === null ? [] : [{ ...fill, averagePrice, time: at.toISOString() }],
  );
}
