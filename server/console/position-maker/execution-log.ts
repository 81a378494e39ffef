import { and, desc, eq, gte, sql } from 'drizzle-orm';
import type { ExecutionLogs } from '#contract/position-maker.ts';
import { CALCULATION_MAX_AGE_MINUTES } from '#domain/sizing/trading-constants.ts';
import type { Db } from '#server/platform/db/database.ts';
import { orderAttempts, trades, users } from '#server/platform/db/schema.ts';

const NEWEST = 50;
/** No order leaves later than that after its trade was made: its age is looked at before the account is prepared. */
const SUBMITTED_WITHIN_MS = (CALCULATION_MAX_AGE_MINUTES + 1) * 60_000;

const isDone = eq(trades.state, 'done');

/**
 * The last executions that have ended, the one submitted last first; `id` is the attempt's that decided it, `taskId` the
 * trade's. When an order was submitted stands at its attempts, and trades are many: only those are looked at that were
 * made late enough to be among the last. With the time as a value of its own that is a range of the index; out of a
 * subquery it could be any part of the table, and all of it would be read.
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
  const logs = rows.map(({ trade, username, attemptId, submittedAt }) => ({
    id: attemptId ?? trade.id,
    taskId: trade.id,
    userId: trade.userId,
    username,
    token: trade.token,
    exchangePlatform: trade.exchangePlatform,
    success: trade.success === true,
    error: trade.error,
    orderId: trade.orderId,
    submittedAt: submittedAt.toISOString(),
  }));
  return { logs };
}
