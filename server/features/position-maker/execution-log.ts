import { asc, desc, eq, inArray } from 'drizzle-orm';
import type { ExecutionLogs } from '#contract/position-maker.ts';
import type { Db } from '#server/platform/database/database.ts';
import { orderAttempts, trades, users } from '#server/platform/database/schema.ts';

const NEWEST = 50;

/** The newest executions that have ended, newest first; `id` is the attempt's that decided it, `taskId` the trade's. */
export async function listExecutionLogs(db: Db): Promise<ExecutionLogs> {
  const rows = await db
    .select({ trade: trades, username: users.username })
    .from(trades)
    .innerJoin(users, eq(users.id, trades.userId))
    .where(eq(trades.state, 'done'))
    .orderBy(desc(trades.createdAt), desc(trades.id))
    .limit(NEWEST);
  const attempts = await db
    .select()
    .from(orderAttempts)
    .where(
      inArray(
        orderAttempts.tradeId,
        rows.map(({ trade }) => trade.id),
      ),
    )
    .orderBy(asc(orderAttempts.attempt));
  const logs = rows.map(({ trade, username }) => {
    const own = attempts.filter(({ tradeId }) => tradeId === trade.id);
    const deciding =
      own.findLast(({ orderId }) => orderId !== null && orderId === trade.orderId) ?? own.at(-1);
    return {
      id: deciding?.id ?? trade.id,
      taskId: trade.id,
      userId: trade.userId,
      username,
      token: trade.token,
      exchangePlatform: trade.exchangePlatform,
      success: trade.success === true,
      error: trade.error,
      orderId: trade.orderId,
      submittedAt: (deciding?.submittedAt ?? trade.createdAt).toISOString(),
    };
  });
  return { logs };
}
