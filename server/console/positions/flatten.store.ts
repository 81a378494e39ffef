import { and, asc, eq, gt, inArray, isNull, lte, ne, or, type SQL, sql } from 'drizzle-orm';
import type { CloseAllProgress } from '#contract/close-all.ts';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { StopScope } from '#domain/orders/trading-stop.ts';
import { coversTrade } from '#server/admin/stops/trading-stops.store.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { flattenPositions, flattens, trades, users } from '#server/platform/db/schema.ts';

export type FlattenRow = typeof flattens.$inferSelect;
export type FlattenPosition = typeof flattenPositions.$inferSelect;
type Key = Pick<FlattenPosition, 'flattenId' | 'userId' | 'exchangePlatform' | 'token'>;

/** A stop that was made only for the closing ends by then, whatever happens to the program. */
export const LONGEST_CLOSING_MS = 10 * 60_000;

const scopeOf = ({ scopeKind: kind, scopeValue: value }: FlattenRow): StopScope => ({ kind, value });

/** Trades of this mode that may have a position open. */
const mayBeOpen = (mode: ExchangeMode): SQL | undefined =>
  and(
    isNull(trades.positionClosedAt),
    or(ne(trades.state, 'done'), inArray(trades.fillStatus, ['filled', 'partial'])),
    or(isNull(trades.exchangeMode), eq(trades.exchangeMode, mode)),
  );

/** Records a closing with every position in its scope that may be open; returns how many there are. */
export async function insertFlatten(tx: Tx, flatten: FlattenRow, mode: ExchangeMode): Promise<number> {
  await tx.insert(flattens).values(flatten);
  const found = await tx
    .select({
      userId: trades.userId,
      exchangePlatform: trades.exchangePlatform,
      token: trades.token,
      isEntry: sql<boolean>`bool_and(${trades.state} = 'working' and ${trades.filledQuantity} = 0)`,
    })
    .from(trades)
    .where(and(mayBeOpen(mode), coversTrade(scopeOf(flatten))))
    .groupBy(trades.userId, trades.exchangePlatform, trades.token);
  if (found.length === 0) return 0;
  const { id: flattenId, createdAt: nextAt } = flatten;
  await tx
    .insert(flattenPositions)
    .values(found.map((row) => ({ ...row, flattenId, nextAt, state: 'waiting' as const })));
  return found.length;
}

/** Those that have something left to try, oldest first. */
export const listOpenFlattens = (db: Queryable): Promise<FlattenRow[]> =>
  db.select().from(flattens).where(isNull(flattens.endedAt)).orderBy(asc(flattens.createdAt));

/** Those that have something left to try, and those that ended after `endedAfter`; oldest first. */
export const listFlattens = (db: Queryable, { endedAfter }: { endedAfter: Date }): Promise<FlattenRow[]> =>
  db
    .select()
    .from(flattens)
    .where(or(isNull(flattens.endedAt), gt(flattens.endedAt, endedAfter)))
    .orderBy(asc(flattens.createdAt));

export async function findFlatten(db: Queryable, id: string): Promise<FlattenRow | null> {
  const [row] = await db.select().from(flattens).where(eq(flattens.id, id));
  return row ?? null;
}

/** Ends it; false when it had ended already. */
export async function endFlatten(db: Queryable, { id, now }: { id: string; now: Date }): Promise<boolean> {
  const ended = await db
    .update(flattens)
    .set({ endedAt: now })
    .where(and(eq(flattens.id, id), isNull(flattens.endedAt)))
    .returning({ id: flattens.id });
  return ended.length > 0;
}

const isOf = ({ flattenId, userId, exchangePlatform, token }: Key): SQL | undefined =>
  and(
    eq(flattenPositions.flattenId, flattenId),
    eq(flattenPositions.userId, userId),
    eq(flattenPositions.exchangePlatform, exchangePlatform),
    eq(flattenPositions.token, token),
  );

const OPEN = ['waiting', 'failed'] as const;

/** Positions to be tried now. */
export const listDue = (
  db: Queryable,
  { flattenId, now }: { flattenId: string; now: Date },
): Promise<FlattenPosition[]> =>
  db
    .select()
    .from(flattenPositions)
    .where(
      and(
        eq(flattenPositions.flattenId, flattenId),
        inArray(flattenPositions.state, [...OPEN]),
        lte(flattenPositions.nextAt, now),
      ),
    )
    .orderBy(asc(flattenPositions.userId), asc(flattenPositions.token));

/** How many positions are left in each open state. */
export async function countLeft(
  db: Queryable,
  flattenId: string,
): Promise<{ waiting: number; failed: number }> {
  const [row] = await db
    .select({
      waiting: sql<number>`count(*) filter (where ${flattenPositions.state} = 'waiting')::int`,
      failed: sql<number>`count(*) filter (where ${flattenPositions.state} = 'failed')::int`,
    })
    .from(flattenPositions)
    .where(eq(flattenPositions.flattenId, flattenId));
  return row ?? { waiting: 0, failed: 0 };
}

export async function changePosition(
  db: Queryable,
  key: Key,
  set: Partial<Omit<FlattenPosition, keyof Key>>,
): Promise<void> {
  await db
    .update(flattenPositions)
    .set(set)
    .where(and(isOf(key), inArray(flattenPositions.state, [...OPEN])));
}

/** The entry ended without a fill: there was no position. */
export async function forgetPosition(db: Queryable, key: Key): Promise<void> {
  await db.delete(flattenPositions).where(isOf(key));
}

/**
 * Keeps what must stay open of the trade's position; returns what counts: what was written first, by this closing or by
 * another one of the same trade.
 */
export async function keepQuantityOf(
  db: Queryable,
  { key, tradeId, keep }: { key: Key; tradeId: string; keep: string },
): Promise<string> {
  return await db.transaction(async (tx) => {
    const [known] = await tx
      .select({ keep: flattenPositions.keepQuantity })
      .from(flattenPositions)
      .where(and(eq(flattenPositions.tradeId, tradeId), sql`${flattenPositions.keepQuantity} is not null`))
      .limit(1);
    const counts = known?.keep ?? keep;
    await tx.update(flattenPositions).set({ tradeId, keepQuantity: counts }).where(isOf(key));
    return counts;
  });
}

/** The ids of the trades whose position may be open and which the closing covers. */
export async function listCoveredTrades(
  db: Queryable,
  { flatten, key, mode }: { flatten: FlattenRow; key: Key; mode: ExchangeMode },
): Promise<Set<string>> {
  const rows = await db
    .select({ id: trades.id })
    .from(trades)
    .where(
      and(
        eq(trades.userId, key.userId),
        eq(trades.exchangePlatform, key.exchangePlatform),
        eq(trades.token, key.token),
        mayBeOpen(mode),
        coversTrade(scopeOf(flatten)),
      ),
    );
  return new Set(rows.map(({ id }) => id));
}

/** How far these closings are, by their id. */
export async function readProgress(
  db: Queryable,
  rows: readonly FlattenRow[],
): Promise<Map<string, CloseAllProgress>> {
  const ids = rows.map(({ id }) => id);
  const positions =
    ids.length === 0
      ? []
      : await db
          .select()
          .from(flattenPositions)
          .where(inArray(flattenPositions.flattenId, ids))
          .orderBy(asc(flattenPositions.userId), asc(flattenPositions.token));
  return new Map(
    rows.map(({ id, endedAt }) => {
      const own = positions.filter(({ flattenId }) => flattenId === id);
      const inState = (wanted: FlattenPosition['state']) => own.filter(({ state }) => state === wanted);
      const toLeft = ({ userId, token, reason }: FlattenPosition) => ({
        userId,
        token,
        reason: reason ?? '',
      });
      const isRunning = endedAt === null && inState('waiting').length > 0;
      return [
        id,
        {
          state: isRunning ? 'running' : 'done',
          total: own.length,
          closed: inState('closed').length,
          failed: inState('failed').map(toLeft),
          skipped: inState('skipped').map(toLeft),
        },
      ];
    }),
  );
}

/** Positions that could not be closed, of closings that still try, with their user's name. */
export const listFailedPositions = (db: Queryable) =>
  db
    .select({ position: flattenPositions, username: users.username })
    .from(flattenPositions)
    .innerJoin(flattens, eq(flattens.id, flattenPositions.flattenId))
    .innerJoin(users, eq(users.id, flattenPositions.userId))
    .where(and(isNull(flattens.endedAt), eq(flattenPositions.state, 'failed')))
    .orderBy(asc(flattenPositions.firstFailedAt));
