import { and, asc, desc, eq, isNotNull, isNull, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { type HaltKind, worstHalt } from '#domain/orders/trading-halt.ts';
import { type AuditActor, type AuditTrail, programActor } from '#server/platform/audit/audit-trail.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import { tradingHalts, users } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';

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
  { audit, ...halt }: NewHalt & { audit: Pick<AuditTrail, 'record'> },
): Promise<boolean> {
  const [changed] = await writeHalt(tx, halt);
  if (changed === undefined) return false;
  const { token, userId, exchangePlatform, tradeId, kind, reason } = halt;
  await audit.record(tx, {
    actor: ENGINE,
    action: 'trading halted',
    subject: { kind: 'halt', id: changed.id, name: haltName(token, changed.username) },
    after: { userId, exchangePlatform, tradeId, kind, reason },
  });
  await noteEvents(tx, [{ code: 'user_halted', userId, tradeId, data: { token, reason }, at: halt.now }]);
  return true;
}

type NewHalt = HaltedPosition & { tradeId: string | null; kind: HaltKind; reason: string; now: Date };

async function writeHalt(tx: Tx, halt: NewHalt): Promise<{ id: string; username: string | undefined }[]> {
  const { now, ...fields } = halt;
  const [owner] = await tx
    .select({ username: users.username })
    .from(users)
    .where(eq(users.id, halt.userId))
    .for('no key update');
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
  const { username } = owner ?? {};
  if (standing.length > 0) return standing.map(({ id }) => ({ id, username }));
  const inserted = await tx
    .insert(tradingHalts)
    .values({ id: timeOrderedId(), ...fields, since: now })
    .onConflictDoNothing()
    .returning({ id: tradingHalts.id });
  return inserted.map(({ id }) => ({ id, username }));
}

/** The trading engine as an actor of the audit trail. */
export const ENGINE: AuditActor = programActor('trading engine');

/** A halt as a subject of the audit trail. */
export const haltName = (token: string, username: string | undefined): string =>
  username === undefined ? token : `${token} (${username})`;

/** A position that the exchange shows closed or protected again, and how. */
export type ClearedPosition = HaltedPosition & { how: string };

/**
 * Ends the halts for an unverified stop of these positions; a halt for a missing stop still waits for an administrator.
 * Does nothing without a halt.
 */
export async function clearHalts(
  tx: Tx,
  {
    positions,
    now,
    audit,
    actor = ENGINE,
  }: {
    positions: readonly ClearedPosition[];
    now: Date;
    audit: Pick<AuditTrail, 'record'>;
    actor?: AuditActor;
  },
): Promise<void> {
  const { rows } = await tx.execute<ClearedHalt>(sql`
    update trading_halts as halt
    set cleared_at = ${now}, cleared_how = cleared.how,
      ended_at = case when halt.kind = 'unverified' then ${now}::timestamptz end
    from json_to_recordset(${JSON.stringify(positions.map(({ userId, exchangePlatform, token, how }) => ({ userId, exchangePlatform, token, how })))}::json)
      as cleared ("userId" uuid, "exchangePlatform" text, token text, how text)
    where halt.user_id = cleared."userId" and halt.exchange_platform = cleared."exchangePlatform"
      and halt.token = cleared.token and halt.ended_at is null and halt.cleared_at is null
    returning halt.id, halt.token, halt.reason, halt.user_id as "userId",
      (select username from users where users.id = halt.user_id) as username,
      halt.cleared_how as how, halt.ended_at is not null as "isEnded"`);
  for (const { id, token, reason, userId, username, how, isEnded } of rows) {
    if (!isEnded) continue;
    await audit.record(tx, {
      actor,
      action: 'trading resumed',
      subject: { kind: 'halt', id, name: haltName(token, username) },
      before: { reason },
      after: { userId, how },
    });
  }
  await noteResumed(
    tx,
    rows.filter(({ isEnded }) => isEnded),
    now,
  );
}

/** For halts that have ended. */
export const noteResumed = (
  tx: Tx,
  ended: readonly { userId: string; token: string }[],
  at: Date,
): Promise<void> =>
  noteEvents(
    tx,
    ended.map(({ userId, token }) => ({ code: 'user_resumed', userId, data: { token }, at })),
  );

interface ClearedHalt {
  [field: string]: unknown;
  id: string;
  token: string;
  reason: string;
  userId: string;
  username: string;
  how: string;
  isEnded: boolean;
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
