import { and, asc, desc, eq, isNotNull, isNull, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { type HaltKind, worstHalt } from '#domain/orders/trading-halt.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import { tradingHalts, users } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';

export type HaltRow = typeof tradingHalts.$inferSelect;

/** A halt belongs to the position of a user at an exchange in a token. */
export interface HaltedPosition {
  userId: string;
  exchangePlatform: string;
  token: string;
}

const ofPosition = ({ userId, exchangePlatform, token }: HaltedPosition) =>
  and(
    eq(tradingHalts.userId, userId),
    eq(tradingHalts.exchangePlatform, exchangePlatform),
    eq(tradingHalts.token, token),
    isNull(tradingHalts.endedAt),
  );

/**
 * Halts the user, in the transaction that records why. Locks the user's row first, so that an order intent either commits
 * before the halt or sees it (I9). A cleared halt becomes uncleared again, and an 'unverified' halt becomes 'unprotected'
 * once the stop is known to be missing. Returns true if a halt was added or changed.
 */
export async function startHalt(
  tx: Tx,
  halt: HaltedPosition & { tradeId: string | null; kind: HaltKind; reason: string; now: Date },
): Promise<boolean> {
  const { now, ...fields } = halt;
  await tx.select({ id: users.id }).from(users).where(eq(users.id, halt.userId)).for('no key update');
  const { kind, reason } = halt;
  const standing = await tx
    .update(tradingHalts)
    .set({ clearedAt: null, clearedHow: null, ...(kind === 'unprotected' ? { kind, reason } : {}) })
    .where(
      and(
        ofPosition(halt),
        sql`(${tradingHalts.clearedAt} is not null or (${tradingHalts.kind} <> ${kind} and ${kind} = 'unprotected'))`,
      ),
    )
    .returning({ id: tradingHalts.id });
  if (standing.length > 0) return true;
  const inserted = await tx
    .insert(tradingHalts)
    .values({ id: timeOrderedId(), ...fields, since: now })
    .onConflictDoNothing()
    .returning({ id: tradingHalts.id });
  return inserted.length > 0;
}

/** A position that the exchange shows closed or protected again, and how. */
export type ClearedPosition = HaltedPosition & { how: string };

/**
 * Ends the halts for an unverified stop of these positions; a halt for a missing stop still waits for an administrator.
 * Does nothing without a halt.
 */
export async function clearHalts(
  db: Pick<Queryable, 'execute'>,
  positions: readonly ClearedPosition[],
  now: Date,
): Promise<void> {
  await db.execute(sql`
    update trading_halts as halt
    set cleared_at = ${now}, cleared_how = cleared.how,
      ended_at = case when halt.kind = 'unverified' then ${now}::timestamptz end
    from json_to_recordset(${JSON.stringify(positions.map(({ userId, exchangePlatform, token, how }) => ({ userId, exchangePlatform, token, how })))}::json)
      as cleared ("userId" uuid, "exchangePlatform" text, token text, how text)
    where halt.user_id = cleared."userId" and halt.exchange_platform = cleared."exchangePlatform"
      and halt.token = cleared.token and halt.ended_at is null and halt.cleared_at is null`);
}

/** The user's most serious open halt, or null. */
export async function findHalt(db: Queryable, userId: string): Promise<HaltRow | null> {
  return (await listHaltedUsers(db, [userId])).get(userId) ?? null;
}

/** The most serious open halt of every halted user, or of those among these users. */
export async function listHaltedUsers(
  db: Queryable,
  userIds?: readonly string[],
): Promise<Map<string, HaltRow>> {
  const areOf = userIds === undefined ? undefined : isOneOf(tradingHalts.userId, userIds);
  const rows = await db
    .select()
    .from(tradingHalts)
    .where(and(isNull(tradingHalts.endedAt), areOf));
  const byUser = Map.groupBy(rows, ({ userId }) => userId);
  return new Map(
    [...byUser].flatMap(([userId, halts]) => {
      const worst = worstHalt(halts);
      return worst === null ? [] : [[userId, worst]];
    }),
  );
}

/** Halts that wait for the exchange to show their position closed or protected. */
export const listUnclearedHalts = (db: Queryable): Promise<HaltRow[]> =>
  db
    .select()
    .from(tradingHalts)
    .where(and(isNull(tradingHalts.endedAt), isNull(tradingHalts.clearedAt)));

const resumers = alias(users, 'resumers');

function withNames(db: Queryable) {
  return db
    .select({ halt: tradingHalts, username: users.username, endedByName: resumers.username })
    .from(tradingHalts)
    .innerJoin(users, eq(users.id, tradingHalts.userId))
    .leftJoin(resumers, eq(resumers.id, tradingHalts.endedBy))
    .$dynamic();
}
export type NamedHalt = Awaited<ReturnType<typeof withNames>>[number];

/** Oldest first. */
export const listOpenHalts = (db: Queryable, { userId }: { userId?: string } = {}): Promise<NamedHalt[]> =>
  withNames(db)
    .where(
      and(isNull(tradingHalts.endedAt), userId === undefined ? undefined : eq(tradingHalts.userId, userId)),
    )
    .orderBy(asc(tradingHalts.since), asc(tradingHalts.id));

/** Newest first. */
export const listEndedHalts = (db: Queryable, { limit }: { limit: number }): Promise<NamedHalt[]> =>
  withNames(db)
    .where(isNotNull(tradingHalts.endedAt))
    .orderBy(desc(tradingHalts.endedAt), desc(tradingHalts.id))
    .limit(limit);

export async function findNamedHalt(db: Queryable, id: string): Promise<NamedHalt | null> {
  const [row] = await withNames(db).where(eq(tradingHalts.id, id));
  return row ?? null;
}

/** Ends a cleared halt; false if it is not cleared or has already ended. */
export async function endHalt(
  db: Queryable,
  { id, by, now }: { id: string; by: string; now: Date },
): Promise<boolean> {
  const ended = await db
    .update(tradingHalts)
    .set({ endedAt: now, endedBy: by })
    .where(and(eq(tradingHalts.id, id), isNull(tradingHalts.endedAt), isNotNull(tradingHalts.clearedAt)))
    .returning({ id: tradingHalts.id });
  return ended.length > 0;
}
