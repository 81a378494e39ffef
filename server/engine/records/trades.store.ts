import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, lt, ne, or, type SQL, sql } from 'drizzle-orm';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { ExitScope } from '#domain/exits/select-exits.ts';
import type { AttemptState } from '#domain/orders/order-lifecycle.ts';
import { isStoppedTrade } from '#server/admin/stops/trading-stops.store.ts';
import type { CallRecord } from '#server/exchanges/exchange.ts';
import type { Db, Queryable } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import { orderAttempts, tradeEvents, trades, users, workflowUsers } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { denyClosedSince, newerClosesAsJson, readNewerCloses } from './newer-closes.ts';

export type TradeRow = typeof trades.$inferSelect;
export type AttemptRow = Omit<typeof orderAttempts.$inferSelect, 'state'> & { state: AttemptState };

/** The row of a new attempt, complete. */
export const newAttempt = (
  attempt: Pick<AttemptRow, 'id' | 'tradeId' | 'attempt' | 'clientOrderId' | 'price' | 'quantity' | 'state'> &
    Partial<Pick<AttemptRow, 'submittedAt'>>,
): AttemptRow => ({
  orderId: null,
  filledQuantity: '0',
  averagePrice: null,
  fee: null,
  error: null,
  submittedAt: null,
  lookupMisses: 0,
  placementTries: 0,
  doubt: null,
  verifyAt: null,
  cancelRequestedAt: null,
  finishedAt: null,
  orderPayload: null,
  raw: null,
  ...attempt,
});

/** The newest trade that meets all conditions. */
async function findNewest(db: Queryable, ...conditions: (SQL | undefined)[]): Promise<TradeRow | null> {
  const [row] = await db
    .select()
    .from(trades)
    .where(and(...conditions))
    .orderBy(desc(trades.createdAt))
    .limit(1);
  return row ?? null;
}

export const findTrade = (db: Queryable, id: string): Promise<TradeRow | null> =>
  findNewest(db, eq(trades.id, id));

/** A calculation is traded at most once. */
export const findTradeOfCalculation = (
  db: Queryable,
  positionGeneratorLogId: string,
): Promise<TradeRow | null> => findNewest(db, eq(trades.positionGeneratorLogId, positionGeneratorLogId));

/** Oldest attempt first. */
export async function listAttempts(db: Queryable, tradeId: string): Promise<AttemptRow[]> {
  const rows = await db
    .select()
    .from(orderAttempts)
    .where(eq(orderAttempts.tradeId, tradeId))
    .orderBy(asc(orderAttempts.attempt));
  return rows as AttemptRow[];
}

/** A trade with its attempts, oldest first, and its user's place in the order of trading, if it is of a workflow. */
export interface TradeWithAttempts {
  trade: TradeRow;
  attempts: AttemptRow[];
  position: number | null;
  /** A stop of new entries covers the trade: what rests unfilled is cancelled. */
  isStopped?: boolean;
  /** The newer signal's reason, where it is one. */
  closedSince?: string | undefined;
}

export async function findTradeWithAttempts(
  db: Queryable,
  tradeId: string,
  { now, exitScope }: { now: Date; exitScope: ExitScope },
): Promise<TradeWithAttempts | null> {
  const rows = await db
    .select({
      trade: trades,
      attempt: orderAttempts,
      position: workflowUsers.position,
      isStopped: isStoppedTrade(now),
      closes: newerClosesAsJson(sql`begun.id = ${trades.workflowId} and ${trades.state} = 'working'`),
    })
    .from(trades)
    .leftJoin(orderAttempts, eq(orderAttempts.tradeId, trades.id))
    .leftJoin(
      workflowUsers,
      and(eq(workflowUsers.workflowId, trades.workflowId), eq(workflowUsers.userId, trades.userId)),
    )
    .where(eq(trades.id, tradeId))
    .orderBy(asc(orderAttempts.attempt));
  const [first] = rows;
  if (first === undefined) return null;
  const attempts = rows.flatMap(({ attempt }) => (attempt === null ? [] : [attempt as AttemptRow]));
  const { trade, position } = first;
  const closedSince = denyClosedSince(readNewerCloses(first.closes), { ...trade, scope: exitScope });
  const isStopped = first.isStopped || closedSince !== null;
  return { trade, attempts, position, isStopped, closedSince: closedSince?.reason };
}

/** Trades of a signal with their user's name, newest first. */
export async function listSignalTrades(
  db: Queryable,
  { signalId, page }: { signalId: string; page: { limit: number; offset: number } | null },
) {
  const sent = db
    .select({ orderPayload: orderAttempts.orderPayload })
    .from(orderAttempts)
    .where(and(eq(orderAttempts.tradeId, trades.id), isNotNull(orderAttempts.orderPayload)))
    .orderBy(desc(orderAttempts.attempt))
    .limit(1)
    .as('sent');
  const rows = db
    .select({ trade: trades, username: users.username, orderPayload: sent.orderPayload })
    .from(trades)
    .innerJoin(users, eq(users.id, trades.userId))
    .leftJoinLateral(sent, sql`true`)
    .where(eq(trades.signalId, signalId))
    .orderBy(desc(trades.createdAt), desc(trades.id));
  return await (page === null ? rows : rows.limit(page.limit).offset(page.offset));
}

const isStanding = or(ne(trades.state, 'done'), inArray(trades.fillStatus, ['filled', 'partial', 'unknown']));

/** The user's live, filled or doubtful order for the signal: a second order would double it. */
export const findStandingTrade = (
  db: Queryable,
  { signalId, userId }: { signalId: string; userId: string },
): Promise<TradeRow | null> =>
  findNewest(db, eq(trades.signalId, signalId), eq(trades.userId, userId), isStanding);

/** The same for several users and signals. */
export const listStandingTrades = (
  db: Queryable,
  owners: readonly { signalId: string; userId: string }[],
): Promise<TradeRow[]> =>
  db
    .select()
    .from(trades)
    .where(
      and(
        isOneOf(trades.signalId, [...new Set(owners.map(({ signalId }) => signalId))]),
        isOneOf(
          trades.userId,
          owners.map(({ userId }) => userId),
        ),
        isStanding,
      ),
    )
    .orderBy(desc(trades.createdAt));

/** The user's trade in the token that is not done: its order may still fill. */
export const findWorkingTrade = (
  db: Queryable,
  { userId, token }: { userId: string; token: string },
): Promise<TradeRow | null> =>
  findNewest(db, eq(trades.userId, userId), eq(trades.token, token), ne(trades.state, 'done'));

/** Each user's newest trade in the token that is not done. */
export async function listUnfinishedOf(
  db: Queryable,
  { userIds, token }: { userIds: readonly string[]; token: string },
): Promise<Pick<TradeRow, 'userId' | 'state'>[]> {
  return await db
    .selectDistinctOn([trades.userId], { userId: trades.userId, state: trades.state })
    .from(trades)
    .where(and(isOneOf(trades.userId, userIds), eq(trades.token, token), ne(trades.state, 'done')))
    .orderBy(trades.userId, desc(trades.createdAt));
}

/** The trades of all users in the token whose orders are at work. */
export async function listWorkingTrades(db: Queryable, token: string): Promise<string[]> {
  const rows = await db
    .select({ id: trades.id })
    .from(trades)
    .where(and(eq(trades.token, token), eq(trades.state, 'working')));
  return rows.map(({ id }) => id);
}

/** The users of a workflow whose order is not done, and since when it is there; the oldest first. */
export const listUnsettledUsers = (
  db: Queryable,
  workflowId: string,
): Promise<{ userId: string; since: Date }[]> =>
  db
    .select({ userId: trades.userId, since: trades.createdAt })
    .from(trades)
    .where(and(eq(trades.workflowId, workflowId), ne(trades.state, 'done')))
    .orderBy(asc(trades.createdAt));

const isFilled = inArray(trades.fillStatus, ['filled', 'partial']);

/** A trade's state, and where its orders are. */
export type LiveTrade = TradePlace & Pick<TradeRow, 'state'>;
export type TradePlace = Pick<TradeRow, 'userId' | 'exchangePlatform' | 'exchangeMode' | 'exchangeAccountId'>;

/** Where the users have trades in the token that are not done, or whose position is not known to be closed. */
export function listLiveTrades(
  db: Queryable,
  { userIds, token }: { userIds: readonly string[]; token: string },
): Promise<LiveTrade[]> {
  const { userId, exchangePlatform, exchangeMode, exchangeAccountId, state } = trades;
  const mayBeOpen = and(
    isFilled,
    isNull(trades.positionClosedAt),
    sql`${trades.protectionStatus} is distinct from 'closed'`,
  );
  return db
    .select({ userId, exchangePlatform, exchangeMode, exchangeAccountId, state })
    .from(trades)
    .where(and(isOneOf(userId, userIds), eq(trades.token, token), or(ne(state, 'done'), mayBeOpen)))
    .groupBy(userId, exchangePlatform, exchangeMode, exchangeAccountId, state);
}

/** The newest trade that opened a position of the user in the token, at this exchange and in this mode. */
export const findLastFilledTrade = (
  db: Queryable,
  place: { userId: string; token: string; exchangePlatform: string; exchangeMode: ExchangeMode },
): Promise<TradeRow | null> =>
  findNewest(
    db,
    eq(trades.userId, place.userId),
    eq(trades.token, place.token),
    eq(trades.exchangePlatform, place.exchangePlatform),
    // Old rows have no mode.
    or(isNull(trades.exchangeMode), eq(trades.exchangeMode, place.exchangeMode)),
    isFilled,
  );

/**
 * Unfinished trades, or those due before `dueBefore` or, since the clock stepped back, after `dueAfter`; longest overdue
 * first, at most `limit`.
 */
export async function listUnfinishedTrades(
  db: Db,
  dueBefore: Date | null,
  { limit = 5_000, dueAfter }: { limit?: number; dueAfter?: Date } = {},
): Promise<string[]> {
  const rows = await db
    .select({ id: trades.id })
    .from(trades)
    .where(
      and(
        ne(trades.state, 'done'),
        dueBefore === null
          ? undefined
          : or(
              isNull(trades.dueAt),
              lt(trades.dueAt, dueBefore),
              dueAfter === undefined ? undefined : gt(trades.dueAt, dueAfter),
            ),
      ),
    )
    .orderBy(sql`${trades.dueAt} nulls first`)
    .limit(limit);
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

/** The newest line of a trade's timeline that begins with this text, or null. */
export async function findLastLine(
  db: Queryable,
  { tradeId, beginning }: { tradeId: string; beginning: string },
): Promise<{ text: string; at: Date } | null> {
  const [line] = await db
    .select({ text: tradeEvents.text, at: tradeEvents.at })
    .from(tradeEvents)
    .where(
      and(
        eq(tradeEvents.tradeId, tradeId),
        eq(tradeEvents.kind, 'timeline'),
        sql`starts_with(${tradeEvents.text}, ${beginning})`,
      ),
    )
    .orderBy(desc(tradeEvents.id))
    .limit(1);
  return line ?? null;
}

/** A call to the exchange as an event of its trade. */
export const callEvent = (tradeId: string, call: CallRecord) => ({
  tradeId,
  at: new Date(call.timestamp),
  kind: 'call' as const,
  text: call.type,
  data: call,
});

/** When the exchange last answered a call of this type for the trade, also with a refusal; null when it never did. */
export async function findLastAnswerAt(
  db: Queryable,
  { tradeId, type }: { tradeId: string; type: string },
): Promise<Date | null> {
  const status = sql`(${tradeEvents.data}->>'status')::int`;
  const [call] = await db
    .select({ at: tradeEvents.at })
    .from(tradeEvents)
    .where(
      and(
        eq(tradeEvents.tradeId, tradeId),
        eq(tradeEvents.kind, 'call'),
        eq(tradeEvents.text, type),
        sql`${status} < 500 and ${status} <> 429`,
      ),
    )
    .orderBy(desc(tradeEvents.id))
    .limit(1);
  return call?.at ?? null;
}

export async function addCalls(db: Queryable, tradeId: string, calls: CallRecord[]): Promise<void> {
  if (calls.length === 0) return;
  await db
    .insert(tradeEvents)
    .values(calls.map((call) => ({ id: timeOrderedId(), ...callEvent(tradeId, call) })));
}
