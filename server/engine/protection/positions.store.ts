import { and, desc, eq, isNotNull, isNull, lte, or, type SQL, sql } from 'drizzle-orm';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { Db, Queryable, Tx } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import {
  closedPositions,
  closedPositionTotals,
  positionCloses,
  signals,
  trades,
  users,
} from '#server/platform/db/schema.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';

export interface PositionFilter {
  userId?: string | undefined;
  token?: string | undefined;
}

export interface AccountKey {
  userId: string;
  exchangePlatform: string;
}

export type OpenTrade = typeof trades.$inferSelect & {
  /** When the position was first seen gone, while the exchange's history does not explain its end yet. */
  goneSince: Date | null;
  /** What the last close of a part left open, in units of the token; null when no part was closed. */
  leftQuantity: string | null;
  /** The strategy of its signal. */
  processor: string | null;
  /** Of its signal. */
  timeframe: string | null;
};

/** Worded like the index: trades that may have a position open. */
export const mayBeOpen = sql`trades.position_closed_at is null and (trades.state <> 'done' or trades.fill_status in ('filled', 'partial'))`;

/**
 * Accounts of active users, and accounts that may hold a position we opened, including those at an exchange that the
 * user left.
 */
export async function listAccounts(
  db: Db,
  { userId, onlyWithTrades = false }: { userId?: string | undefined; onlyWithTrades?: boolean } = {},
): Promise<(AccountKey & { username: string })[]> {
  const ofUser = userId === undefined ? sql`true` : sql`users.id = ${userId}`;
  const chosen = sql`
    union
    select users.id, users.username, user_settings.exchange_platform
    from users join user_settings on user_settings.user_id = users.id
    where users.is_active and ${ofUser}`;
  const { rows } = await db.execute<{ id: string; username: string; exchange_platform: string }>(sql`
    select users.id, users.username, trades.exchange_platform
    from trades join users on users.id = trades.user_id
    where ${mayBeOpen} and ${ofUser}
    ${onlyWithTrades ? sql`` : chosen}
    order by username, exchange_platform`);
  return rows.map((row) => ({
    userId: row.id,
    username: row.username,
    exchangePlatform: row.exchange_platform,
  }));
}

/** Oldest first. */
export const listOpenTrades = (db: Db, { userId, exchangePlatform }: AccountKey): Promise<OpenTrade[]> =>
  openTrades(db, and(eq(trades.userId, userId), eq(trades.exchangePlatform, exchangePlatform)));

/** The same of several users in one token, at all exchanges. */
export const listOpenTradesOf = (
  db: Db,
  { userIds, token }: { userIds: readonly string[]; token: string },
): Promise<OpenTrade[]> => openTrades(db, and(isOneOf(trades.userId, userIds), eq(trades.token, token)));

/** Null when the trade does not exist or has no position. */
export async function findOpenTrade(db: Db, tradeId: string): Promise<OpenTrade | null> {
  const [trade] = await openTrades(db, eq(trades.id, tradeId));
  return trade ?? null;
}

/** What the last close of a part of the position left open. */
const leftQuantity = sql<string | null>`(
  select close.left_quantity from position_closes as close
  where close.user_id = trades.user_id and close.token = trades.token and close.trade_id = trades.id
    and close.left_quantity is not null
  order by close.id desc limit 1)`;

const ofSignal = (column: SQL) =>
  sql<string | null>`(select ${column} from signals where signals.id = trades.signal_id)`;
const processor = ofSignal(sql`signals.processor`);
const timeframe = ofSignal(sql`signals.timeframe`);

async function openTrades(db: Db, which: SQL | undefined): Promise<OpenTrade[]> {
  const rows = await db
    .select({ trade: trades, goneSince: closedPositions.closedAt, leftQuantity, processor, timeframe })
    .from(trades)
    .leftJoin(
      closedPositions,
      and(eq(closedPositions.tradeId, trades.id), isNull(closedPositions.exchangePositionId)),
    )
    .where(and(which, mayBeOpen))
    .orderBy(trades.createdAt, trades.id);
  return rows.map(({ trade, ...more }) => ({ ...trade, ...more }));
}

/**
 * The trades of all users whose position in the token may be open, with the signal that opened each; oldest first.
 * `mode`: trades of another mode are left out. `userIds`: only these users'.
 */
export async function listOpenTradesIn(
  db: Queryable,
  { token, mode, userIds }: { token: string; mode: ExchangeMode; userIds?: readonly string[] | undefined },
): Promise<{ userId: string; tradeId: string; side: 'buy' | 'sell'; processor: string; signalAt: Date }[]> {
  return await db
    .select({
      userId: trades.userId,
      tradeId: trades.id,
      side: trades.side,
      processor: signals.processor,
      signalAt: signals.receivedAt,
    })
    .from(trades)
    .innerJoin(signals, eq(signals.id, trades.signalId))
    .where(
      and(
        eq(trades.token, token),
        userIds === undefined ? undefined : isOneOf(trades.userId, userIds),
        mayBeOpen,
        sql`${trades.protectionStatus} is distinct from 'closed'`,
        or(isNull(trades.exchangeMode), eq(trades.exchangeMode, mode)),
      ),
    )
    .orderBy(trades.createdAt, trades.id);
}

export async function listKnownPositionIds(db: Db, account: AccountKey): Promise<Set<string>> {
  const rows = await db
    .select({ id: closedPositions.exchangePositionId })
    .from(closedPositions)
    .where(
      and(
        eq(closedPositions.userId, account.userId),
        eq(closedPositions.exchangePlatform, account.exchangePlatform),
        isNotNull(closedPositions.exchangePositionId),
      ),
    )
    .orderBy(desc(closedPositions.closedAt))
    .limit(1000);
  return new Set(rows.flatMap(({ id }) => (id === null ? [] : [id])));
}

export type NewClosedPosition = typeof closedPositions.$inferInsert;

/** If another instance was first, its row stays. */
export async function recordClosedPosition(db: Db, row: NewClosedPosition): Promise<void> {
  await db.transaction(async (tx) => {
    // First, because it waits for a `recordGone` of the same trade, whose row must be seen and deleted.
    await closeTrade(tx, row.tradeId, row.closedAt);
    await forgetGone(tx, row.tradeId);
    const inserted = await tx
      .insert(closedPositions)
      .values(row)
      .onConflictDoNothing()
      .returning({ id: closedPositions.id });
    const { userId, tradeId, recordedAt: at } = row;
    const data = { closedPositionId: row.id };
    if (inserted.length > 0) await noteEvents(tx, [{ code: 'position_closed', userId, tradeId, data, at }]);
  });
}

/** The position is gone; how it ended is not known yet. Writes nothing when the trade's end is recorded already. */
export async function recordGone(db: Queryable, row: NewClosedPosition): Promise<void> {
  await db.transaction(async (tx) => {
    const open = await tx
      .select({ id: trades.id })
      .from(trades)
      .where(and(eq(trades.id, row.tradeId), isNull(trades.positionClosedAt)))
      .for('no key update');
    if (open.length > 0) await tx.insert(closedPositions).values(row).onConflictDoNothing();
  });
}

/** The position was not gone after all, or its end is known now. */
export async function forgetGone(db: Queryable, tradeId: string): Promise<void> {
  await db
    .delete(closedPositions)
    .where(and(eq(closedPositions.tradeId, tradeId), isNull(closedPositions.exchangePositionId)));
}

/** Returns whether the trade was open until now. */
export async function closeTrade(db: Db | Tx, tradeId: string, at: Date): Promise<boolean> {
  const closed = await db
    .update(trades)
    .set({ positionClosedAt: at })
    .where(and(eq(trades.id, tradeId), isNull(trades.positionClosedAt)))
    .returning({ id: trades.id });
  return closed.length > 0;
}

/** Why the engine sent the order with this id; null for any other order. */
export async function findCloseReason(
  db: Db,
  { userId, clientOrderId }: { userId: string; clientOrderId: string },
): Promise<string | null> {
  const [row] = await db
    .select({ reason: positionCloses.reason })
    .from(positionCloses)
    .where(and(eq(positionCloses.userId, userId), eq(positionCloses.clientOrderId, clientOrderId)));
  return row?.reason ?? null;
}

const matching = ({ userId, token }: PositionFilter): SQL | undefined =>
  and(
    userId === undefined ? undefined : eq(closedPositions.userId, userId),
    token === undefined ? undefined : eq(closedPositions.token, token),
  );

/** Newest first. */
export async function listClosedPositions(
  db: Db,
  filter: PositionFilter & { limit: number; offset?: number; until?: Date | undefined },
) {
  return await db
    .select({
      closed: closedPositions,
      username: users.username,
      stopLoss: trades.stopLoss,
      takeProfit: trades.takeProfit,
      /** The order may have been written off earlier: only a write-off of the position ends it. */
      isWrittenOff: sql<boolean>`coalesce(${trades.writtenOffAt} = ${trades.positionClosedAt}, false)`,
    })
    .from(closedPositions)
    .innerJoin(trades, eq(trades.id, closedPositions.tradeId))
    .innerJoin(users, eq(users.id, closedPositions.userId))
    .where(
      and(
        matching(filter),
        filter.until === undefined ? undefined : lte(closedPositions.closedAt, filter.until),
      ),
    )
    .orderBy(desc(closedPositions.closedAt), desc(closedPositions.id))
    .limit(filter.limit)
    .offset(filter.offset ?? 0);
}

interface ClosedSum {
  count: number;
  /** In USDT, before fees. */
  realisedProfit: string;
  fees: string;
}

export interface ClosedSums {
  all: ClosedSum;
  users: (ClosedSum & { userId: string; username: string })[];
  tokens: (ClosedSum & { token: string })[];
}

/** Sums over all closed positions, read from the totals that the database maintains. */
export async function sumClosedPositions(db: Db, filter: PositionFilter): Promise<ClosedSums> {
  const { rows } = await db.execute<{
    user_id: string | null;
    username: string | null;
    token: string | null;
    count: number;
    profit: string;
    fees: string;
  }>(sql`
    with sums as (
      select user_id, token, sum(positions)::int as count, sum(realised_profit)::text as profit, sum(fees)::text as fees
      from closed_position_totals where ${totalsMatching(filter)}
      group by grouping sets ((user_id), (token), ())
      having sum(positions) > 0
    )
    select sums.*, users.username from sums left join users on users.id = sums.user_id`);
  const sums: ClosedSums = { all: { count: 0, realisedProfit: '0', fees: '0' }, users: [], tokens: [] };
  for (const { user_id: userId, username, token, count, profit: realisedProfit, fees } of rows) {
    const sum = { count, realisedProfit, fees };
    if (userId !== null && username !== null) sums.users.push({ ...sum, userId, username });
    else if (token !== null) sums.tokens.push({ ...sum, token });
    else sums.all = sum;
  }
  return sums;
}

/**
 * The running sum of profit after fees at each closing: the newest `points`, oldest first, counted back from the total.
 */
export async function sumProfitOverTime(
  db: Db,
  filter: PositionFilter & { points: number },
): Promise<{ at: Date; profit: string }[]> {
  const newest = db
    .select({
      at: closedPositions.closedAt,
      id: closedPositions.id,
      profit: sql<string>`${closedPositions.realisedProfit} - coalesce(${closedPositions.fees}, 0)`.as(
        'profit',
      ),
    })
    .from(closedPositions)
    .where(and(matching(filter), isNotNull(closedPositions.realisedProfit)))
    .orderBy(desc(closedPositions.closedAt), desc(closedPositions.id))
    .limit(filter.points)
    .as('newest');
  const total = sql`(select coalesce(sum(profit_after_fees), 0) from closed_position_totals where ${totalsMatching(filter)})`;
  const since = sql`coalesce(sum(${newest.profit}) over (order by ${newest.at} desc, ${newest.id} desc
    rows between unbounded preceding and 1 preceding), 0)`;
  return await db
    .select({ at: newest.at, profit: sql<string>`${total} - ${since}` })
    .from(newest)
    .orderBy(newest.at, newest.id);
}

/** Like `matching`, for the totals of closed positions. */
const totalsMatching = ({ userId, token }: PositionFilter): SQL =>
  and(
    userId === undefined ? undefined : eq(closedPositionTotals.userId, userId),
    token === undefined ? undefined : eq(closedPositionTotals.token, token),
  ) ?? sql`true`;

/** The exchange where a position we opened in the token may be open; null when there is none. */
export async function findOpenTradePlatform(
  db: Db,
  { userId, token }: { userId: string; token: string },
): Promise<string | null> {
  const [row] = await db
    .select({ platform: trades.exchangePlatform })
    .from(trades)
    .where(and(eq(trades.userId, userId), eq(trades.token, token), mayBeOpen))
    .orderBy(desc(trades.createdAt))
    .limit(1);
  return row?.platform ?? null;
}

/** What closes of a part have taken off the trade's position, in units of the token. */
export async function sumPartialCloses(db: Queryable, tradeId: string): Promise<string> {
  const [row] = await db
    .select({ closed: sql<string>`coalesce(sum(${positionCloses.quantity}), 0)::text` })
    .from(positionCloses)
    .where(
      and(
        eq(positionCloses.tradeId, tradeId),
        eq(positionCloses.state, 'closed'),
        sql`${positionCloses.leftQuantity} is not null`,
      ),
    );
  return row?.closed ?? '0';
}
