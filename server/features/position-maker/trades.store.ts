import { and, asc, desc, eq, inArray, isNull, lt, ne, or, type SQL } from 'drizzle-orm';
import type { AttemptState } from '#domain/order-lifecycle.ts';
import type { CallRecord } from '#server/exchanges/exchange.ts';
import type { Db, Queryable } from '#server/platform/database/database.ts';
import { orderAttempts, tradeEvents, trades, users } from '#server/platform/database/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';

export type TradeRow = typeof trades.$inferSelect;
export type AttemptRow = Omit<typeof orderAttempts.$inferSelect, 'state'> & { state: AttemptState };

/** The newest trade of which all of this holds. */
async function findNewest(db: Queryable, ...conditions: (SQL | undefined)[]): Promise<TradeRow | null> {
  const [row] = await db
    .select()
    .from(trades)
    .where(and(...conditions))
    .orderBy(desc(trades.createdAt))
    .limit(1)
    .execute();
  return row ?? null;
}

export const findTrade = (db: Queryable, id: string): Promise<TradeRow | null> =>
  findNewest(db, eq(trades.id, id));

/** A calculation is traded once at most. */
export const findTradeOfCalculation = (
  db: Queryable,
  positionGeneratorLogId: string,
): Promise<TradeRow | null> => findNewest(db, eq(trades.positionGeneratorLogId, positionGeneratorLogId));

export const findWorkflowTrade = (
  db: Queryable,
  { workflowId, userId }: { workflowId: string; userId: string },
): Promise<TradeRow | null> => findNewest(db, eq(trades.workflowId, workflowId), eq(trades.userId, userId));

/** Oldest attempt first. */
export async function listAttempts(db: Queryable, tradeId: string): Promise<AttemptRow[]> {
  const rows = await db
    .select()
    .from(orderAttempts)
    .where(eq(orderAttempts.tradeId, tradeId))
    .orderBy(asc(orderAttempts.attempt));
  return rows as AttemptRow[];
}

/** The trade with its attempts, oldest first. */
export async function findTradeWithAttempts(
  db: Queryable,
  tradeId: string,
): Promise<{ trade: TradeRow; attempts: AttemptRow[] } | null> {
  const rows = await db
    .select({ trade: trades, attempt: orderAttempts })
    .from(trades)
    .leftJoin(orderAttempts, eq(orderAttempts.tradeId, trades.id))
    .where(eq(trades.id, tradeId))
    .orderBy(asc(orderAttempts.attempt));
  const [first] = rows;
  if (first === undefined) return null;
  const attempts = rows.flatMap(({ attempt }) => (attempt === null ? [] : [attempt as AttemptRow]));
  return { trade: first.trade, attempts };
}

/** Trades of a signal with their user's name, newest first. */
export async function listSignalTrades(db: Queryable, signalId: string) {
  return await db
    .select({ trade: trades, username: users.username })
    .from(trades)
    .innerJoin(users, eq(users.id, trades.userId))
    .where(eq(trades.signalId, signalId))
    .orderBy(desc(trades.createdAt), desc(trades.id));
}

/** A live, filled or doubtful order of the user for the signal: a second one would double it. */
export const findStandingTrade = (
  db: Queryable,
  { signalId, userId }: { signalId: string; userId: string },
): Promise<TradeRow | null> =>
  findNewest(
    db,
    eq(trades.signalId, signalId),
    eq(trades.userId, userId),
    or(ne(trades.state, 'done'), inArray(trades.fillStatus, ['filled', 'partial', 'unknown'])),
  );

/** A trade of the user in the token that is not done: its order may still fill. */
export const findWorkingTrade = (
  db: Queryable,
  { userId, token }: { userId: string; token: string },
): Promise<TradeRow | null> =>
  findNewest(db, eq(trades.userId, userId), eq(trades.token, token), ne(trades.state, 'done'));

/** The newest trade by which this product opened a position of the user in the token. */
export const findLastFilledTrade = (
  db: Queryable,
  { userId, token }: { userId: string; token: string },
): Promise<TradeRow | null> =>
  findNewest(
    db,
    eq(trades.userId, userId),
    eq(trades.token, token),
    inArray(trades.fillStatus, ['filled', 'partial']),
  );

/** Unfinished trades, all of them or those whose next step was due before `dueBefore`: nobody took them. */
export async function listUnfinishedTrades(db: Db, dueBefore: Date | null): Promise<string[]> {
  const rows = await db
    .select({ id: trades.id })
    .from(trades)
    .where(
      and(
        ne(trades.state, 'done'),
        dueBefore === null ? undefined : or(isNull(trades.dueAt), lt(trades.dueAt, dueBefore)),
      ),
    )
    .limit(1000);
  return rows.map(({ id }) => id);
}

/** Everything that happened to a trade, in order. */
export const listTradeEvents = (db: Queryable, tradeId: string) =>
  db
    .select()
    .from(tradeEvents)
    .where(eq(tradeEvents.tradeId, tradeId))
    .orderBy(asc(tradeEvents.at), asc(tradeEvents.id));

export async function addTimeline(
  db: Queryable,
  { tradeId, at, text }: { tradeId: string; at: Date; text: string },
): Promise<void> {
  await db.insert(tradeEvents).values({ id: timeOrderedId(), tradeId, at, kind: 'timeline', text }).execute();
}

export async function addCalls(db: Queryable, tradeId: string, calls: CallRecord[]): Promise<void> {
  if (calls.length === 0) return;
  await db
    .insert(tradeEvents)
    .values(
      calls.map((call) => ({
        id: timeOrderedId(),
        tradeId,
        at: new Date(call.timestamp),
        kind: 'call' as const,
        text: call.type,
        data: call,
      })),
    )
    .execute();
}
