import { and, asc, desc, eq, inArray, isNotNull, isNull, lt, ne, or, type SQL, sql } from 'drizzle-orm';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { AttemptState } from '#domain/orders/order-lifecycle.ts';
import type { CallRecord } from '#server/exchanges/exchange.ts';
import { builtOnce } from '#server/platform/db/built-once.ts';
import type { Db, Queryable, Statements } from '#server/platform/db/database.ts';
import { orderAttempts, tradeEvents, trades, users } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';

export type TradeRow = typeof trades.$inferSelect;
export type AttemptRow = Omit<typeof orderAttempts.$inferSelect, 'state'> & { state: AttemptState };

/** The newest trade that meets all conditions. */
const newest = (db: Statements, ...conditions: (SQL | undefined)[]) =>
  db
    .select()
    .from(trades)
    .where(and(...conditions))
    .orderBy(desc(trades.createdAt))
    .limit(1);
const only = ([row]: TradeRow[]): TradeRow | null => row ?? null;

const byId = builtOnce<{ id: string }>()((db, value) => newest(db, eq(trades.id, value('id'))));
export const findTrade = async (db: Queryable, id: string): Promise<TradeRow | null> =>
  only(await byId(db, { id }));

/** A calculation is traded at most once. */
export const findTradeOfCalculation = async (
  db: Queryable,
  positionGeneratorLogId: string,
): Promise<TradeRow | null> =>
  only(await newest(db, eq(trades.positionGeneratorLogId, positionGeneratorLogId)));

/** Oldest attempt first. */
export async function listAttempts(db: Queryable, tradeId: string): Promise<AttemptRow[]> {
  const rows = await db
    .select()
    .from(orderAttempts)
    .where(eq(orderAttempts.tradeId, tradeId))
    .orderBy(asc(orderAttempts.attempt));
  return rows as AttemptRow[];
}

const withAttempts = builtOnce<{ tradeId: string }>()((db, value) =>
  db
    .select({ trade: trades, attempt: orderAttempts })
    .from(trades)
    .leftJoin(orderAttempts, eq(orderAttempts.tradeId, trades.id))
    .where(eq(trades.id, value('tradeId')))
    .orderBy(asc(orderAttempts.attempt)),
);

/** The trade with its attempts, oldest first. */
export async function findTradeWithAttempts(
  db: Queryable,
  tradeId: string,
): Promise<{ trade: TradeRow; attempts: AttemptRow[] } | null> {
  const rows = await withAttempts(db, { tradeId });
  const [first] = rows;
  if (first === undefined) return null;
  const attempts = rows.flatMap(({ attempt }) => (attempt === null ? [] : [attempt as AttemptRow]));
  return { trade: first.trade, attempts };
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

const standing = builtOnce<{ signalId: string; userId: string }>()((db, value) =>
  newest(
    db,
    eq(trades.signalId, value('signalId')),
    eq(trades.userId, value('userId')),
    or(ne(trades.state, 'done'), inArray(trades.fillStatus, ['filled', 'partial', 'unknown'])),
  ),
);
/** The user's live, filled or doubtful order for the signal: a second order would double it. */
export const findStandingTrade = async (
  db: Queryable,
  { signalId, userId }: { signalId: string; userId: string },
): Promise<TradeRow | null> => only(await standing(db, { signalId, userId }));

const working = builtOnce<{ userId: string; token: string }>()((db, value) =>
  newest(db, eq(trades.userId, value('userId')), eq(trades.token, value('token')), ne(trades.state, 'done')),
);
/** The user's trade in the token that is not done: its order may still fill. */
export const findWorkingTrade = async (
  db: Queryable,
  { userId, token }: { userId: string; token: string },
): Promise<TradeRow | null> => only(await working(db, { userId, token }));

const isFilled = inArray(trades.fillStatus, ['filled', 'partial']);

/** A trade's state, and where its orders are. */
export type LiveTrade = TradePlace & Pick<TradeRow, 'state'>;
export type TradePlace = Pick<TradeRow, 'userId' | 'exchangePlatform' | 'exchangeMode' | 'exchangeAccountId'>;

const live = builtOnce<{ userId: string; token: string }>()((db, value) => {
  const { userId, exchangePlatform, exchangeMode, exchangeAccountId, state } = trades;
  const mayBeOpen = and(
    isFilled,
    isNull(trades.positionClosedAt),
    sql`${trades.protectionStatus} is distinct from 'closed'`,
  );
  return db
    .select({ userId, exchangePlatform, exchangeMode, exchangeAccountId, state })
    .from(trades)
    .where(
      and(eq(userId, value('userId')), eq(trades.token, value('token')), or(ne(state, 'done'), mayBeOpen)),
    )
    .groupBy(userId, exchangePlatform, exchangeMode, exchangeAccountId, state);
});
/** Where the user has trades in the token that are not done, or whose position is not known to be closed. */
export const listLiveTrades = (
  db: Queryable,
  { userId, token }: { userId: string; token: string },
): Promise<LiveTrade[]> => live(db, { userId, token });

/** The newest trade that opened a position of the user in the token, at this exchange and in this mode. */
export const findLastFilledTrade = async (
  db: Queryable,
  place: { userId: string; token: string; exchangePlatform: string; exchangeMode: ExchangeMode },
): Promise<TradeRow | null> =>
  only(
    await newest(
      db,
      eq(trades.userId, place.userId),
      eq(trades.token, place.token),
      eq(trades.exchangePlatform, place.exchangePlatform),
      // Old rows have no mode.
      or(isNull(trades.exchangeMode), eq(trades.exchangeMode, place.exchangeMode)),
      isFilled,
    ),
  );

/** Unfinished trades, or those due before `dueBefore`; longest overdue first, at most `limit`. */
export async function listUnfinishedTrades(
  db: Db,
  dueBefore: Date | null,
  { limit = 5_000 }: { limit?: number } = {},
): Promise<string[]> {
  const rows = await db
    .select({ id: trades.id })
    .from(trades)
    .where(
      and(
        ne(trades.state, 'done'),
        dueBefore === null ? undefined : or(isNull(trades.dueAt), lt(trades.dueAt, dueBefore)),
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

const insertLine = builtOnce<{ id: string; tradeId: string; at: Date; text: string }>()((db, value) =>
  db.insert(tradeEvents).values({
    id: value('id'),
    tradeId: value('tradeId'),
    at: value('at'),
    kind: 'timeline',
    text: value('text'),
  }),
);

export async function addTimeline(
  db: Queryable,
  { tradeId, at, text }: { tradeId: string; at: Date; text: string },
): Promise<void> {
  await insertLine(db, { id: timeOrderedId(), tradeId, at, text });
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
