import { eq, inArray, sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/db/database.ts';
import { noticeStates } from '#server/platform/db/schema.ts';

export type NoticeState = typeof noticeStates.$inferSelect;

export async function findState(db: Queryable, key: string): Promise<NoticeState | null> {
  const [row] = await db.select().from(noticeStates).where(eq(noticeStates.key, key));
  return row ?? null;
}

/** Remembers that a condition lasts and was told now; keeps since when it lasts. */
export async function markTold(
  db: Queryable,
  { key, now, since = now }: { key: string; now: Date; since?: Date },
): Promise<void> {
  await db
    .insert(noticeStates)
    .values({ key, since, toldAt: now })
    .onConflictDoUpdate({ target: noticeStates.key, set: { toldAt: now } });
}

/** Begins a state; false if it had begun already, on this or another instance. */
export async function beginState(db: Queryable, { key, now }: { key: string; now: Date }): Promise<boolean> {
  const begun = await db
    .insert(noticeStates)
    .values({ key, since: now, toldAt: now })
    .onConflictDoNothing()
    .returning({ key: noticeStates.key });
  return begun.length > 0;
}

/** Begins states that are known not to have begun. */
export async function beginStates(
  db: Queryable,
  { keys, now }: { keys: readonly string[]; now: Date },
): Promise<void> {
  if (keys.length === 0) return;
  const rows = keys.map((key) => ({ key, since: now, toldAt: now }));
  await db.insert(noticeStates).values(rows).onConflictDoNothing();
}

/** Ends a state; null if it had not begun. */
export async function endState(db: Queryable, key: string): Promise<NoticeState | null> {
  const [row] = await db.delete(noticeStates).where(eq(noticeStates.key, key)).returning();
  return row ?? null;
}

export const listStates = (db: Queryable, prefix: string): Promise<NoticeState[]> =>
  db.select().from(noticeStates).where(sql`starts_with(${noticeStates.key}, ${prefix})`);

export async function endStates(db: Queryable, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await db.delete(noticeStates).where(inArray(noticeStates.key, [...keys]));
}
