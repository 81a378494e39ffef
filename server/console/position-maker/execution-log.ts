import { and, desc, eq, gte, sql } from 'drizzle-orm';
import type { ExecutionLogs } from '#contract/position-maker.ts';
import { CALCULATION_MAX_AGE_MINUTES } from '#domain/sizing/trading-constants.ts';
import type { Db } from '#server/platform/db/database.ts';
import { orderAttempts, trades, users } from '#server/platform/db/schema.ts';
import { isoDates } from '#server/platform/iso-dates.ts';

const NEWEST = 50;
/** An order is submitted within this time after its trade is created, because older calculations are refused. */
const SUBMITTED_WITHIN_MS = (CALCULATION_MAX_AGE_MINUTES + 1) * 60_000;

const isDone = eq(trades.state, 'done');

/**
 * Ended executions, last submitted first; `id` is the id of the deciding attempt, `taskId` that of the trade. The time of
 * submission is in the attempts, so only trades recent enough to be among the newest are read. A separate query finds
 * their oldest time: with a subquery PostgreSQL reads the whole table instead of an index range.
 */
export async function listExecutionLogs(db: Db): Promise<ExecutionLogs> {
  const [oldestOfNewest] = await db
    .select({ createdAt: trades.createdAt })
    .from(trades)
    .where(isDone)
    .orderBy(desc(trades.createdAt))
    .offset(NEWEST - 1)
    .limit(1);
  const madeSince = oldestOfNewest && new Date(oldestOfNewest.createdAt.getTime() - SUBMITTED_WITHIN_MS);
  const deciding = db
    .select({ id: orderAttempts.id, submittedAt: orderAttempts.submittedAt })
    .from(orderAttempts)
    .where(eq(orderAttempts.tradeId, trades.id))
    .orderBy(sql`(${orderAttempts.orderId} = ${trades.orderId}) desc nulls last`, desc(orderAttempts.attempt))
    .limit(1)
    .as('deciding');
  const submittedAt = sql<Date>`coalesce(${deciding.submittedAt}, ${trades.createdAt})`.mapWith(
    trades.createdAt,
  );
  const rows = await db
    .select({ trade: trades, username: users.username, attemptId: deciding.id, submittedAt })
    .from(trades)
    .innerJoin(users, eq(users.id, trades.userId))
    .leftJoinLateral(deciding, sql`true`)
    .where(and(isDone, madeSince && gte(trades.createdAt, madeSince)))
    .orderBy(desc(submittedAt), desc(trades.createdAt), desc(trades.id))
    .limit(NEWEST);
  // The response schema drops the other columns.
  const logs = rows.map(({ trade, attemptId, ...row }) => ({
    ...trade,
    ...isoDates(row),
    id: attemptId ?? trade.id,
    taskId: trade.id,
    success: trade.success === true,
  }));
  return { logs };
}
