import { and, desc, eq, exists, getTableColumns, gte, inArray, or, sql } from 'drizzle-orm';
import type { Position } from '#domain/sizing/position.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import { accountBalances, orderAttempts, positionGeneratorLogs, trades } from '#server/platform/db/schema.ts';

export type PositionGeneratorLogRow = Omit<typeof positionGeneratorLogs.$inferSelect, 'position'> & {
  position: Position | null;
};

export async function findPositionGeneratorLog(
  db: Queryable,
  id: string,
): Promise<PositionGeneratorLogRow | null> {
  const [row] = await db.select().from(positionGeneratorLogs).where(eq(positionGeneratorLogs.id, id));
  return row === undefined ? null : withPosition(row);
}

/** The calculations of a workflow for these users. */
export async function listWorkflowCalculations(
  db: Queryable,
  { workflowId, userIds }: { workflowId: string; userIds: readonly string[] },
): Promise<PositionGeneratorLogRow[]> {
  const rows = await db
    .select()
    .from(positionGeneratorLogs)
    .where(
      and(eq(positionGeneratorLogs.workflowId, workflowId), isOneOf(positionGeneratorLogs.userId, userIds)),
    );
  return rows.map(withPosition);
}

/**
 * One successful calculation per user of a signal: that of the newest trade, else of the newest workflow, else the
 * newest of the calculator. Estimates do not count.
 */
export async function listSignalCalculations(
  db: Queryable,
  signalId: string,
): Promise<PositionGeneratorLogRow[]> {
  const { userId, workflowId, id } = positionGeneratorLogs;
  const rows = await db
    .selectDistinctOn([userId], getTableColumns(positionGeneratorLogs))
    .from(positionGeneratorLogs)
    .leftJoin(trades, eq(trades.positionGeneratorLogId, id))
    .where(
      and(
        eq(positionGeneratorLogs.signalId, signalId),
        eq(positionGeneratorLogs.success, true),
        eq(positionGeneratorLogs.isEstimate, false),
      ),
    )
    .orderBy(userId, sql`${trades.createdAt} desc nulls last`, sql`${workflowId} desc nulls last`, desc(id));
  return rows.map(withPosition);
}

/**
 * Margin in USDT of the user's order intents that the exchange may not have deducted from the balance yet.
 * `balanceReadAt`: when a stored balance was read; it also lacks later orders.
 */
export async function sumUnknownMargin(
  db: Queryable,
  account: { userId: string; exchangePlatform: string; balanceReadAt?: Date },
): Promise<string> {
  const { userId, exchangePlatform, balanceReadAt } = account;
  const sums = await listUnknownMargins(db, [userId], balanceReadAt);
  return sums.find((one) => one.exchangePlatform === exchangePlatform)?.margin ?? '0';
}

/** The same for several users, at each exchange where they have such intents. */
export async function listUnknownMargins(
  db: Queryable,
  userIds: readonly string[],
  balanceReadAt?: Date,
): Promise<{ userId: string; exchangePlatform: string; margin: string }[]> {
  const isUnknown = inArray(orderAttempts.state, ['planned', 'submitting', 'unknown']);
  const unknown = db
    .select({ one: sql`1` })
    .from(orderAttempts)
    .where(
      and(
        eq(orderAttempts.tradeId, trades.id),
        balanceReadAt === undefined
          ? isUnknown
          : or(isUnknown, gte(orderAttempts.submittedAt, balanceReadAt)),
      ),
    );
  return await db
    .select({
      userId: trades.userId,
      exchangePlatform: trades.exchangePlatform,
      margin: sql<string>`sum(${trades.plannedMargin})::text`,
    })
    .from(trades)
    .where(and(isOneOf(trades.userId, userIds), exists(unknown)))
    .groupBy(trades.userId, trades.exchangePlatform);
}

/** Stores a balance as the exchange reported it, for all instances. An older reading never replaces a newer one. */
export async function rememberBalance(
  db: Queryable,
  balance: { userId: string; exchangePlatform: string; futuresAvailable: string; readAt: Date },
): Promise<void> {
  const { futuresAvailable, readAt } = balance;
  await db
    .insert(accountBalances)
    .values(balance)
    .onConflictDoUpdate({
      target: [accountBalances.userId, accountBalances.exchangePlatform],
      set: { futuresAvailable, readAt },
      setWhere: sql`${accountBalances.readAt} < ${readAt}`,
    });
}

export async function findLastBalance(
  db: Queryable,
  { userId, exchangePlatform }: { userId: string; exchangePlatform: string },
): Promise<{ futuresAvailable: string; readAt: Date } | null> {
  const [row] = await db
    .select()
    .from(accountBalances)
    .where(and(eq(accountBalances.userId, userId), eq(accountBalances.exchangePlatform, exchangePlatform)));
  return row ?? null;
}

const withPosition = (row: typeof positionGeneratorLogs.$inferSelect): PositionGeneratorLogRow => ({
  ...row,
  position: row.position as Position | null,
});
