import { and, asc, count, desc, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/db/database.ts';
import { deliveries, hooks, users } from '#server/platform/db/schema.ts';

export type HookRow = typeof hooks.$inferSelect;

/** A user has at most one hook. */
export async function listHooks(db: Queryable, userId: string): Promise<HookRow[]> {
  return db.select().from(hooks).where(eq(hooks.userId, userId));
}

/** Null for another user's hook. */
export async function findOwnHook(
  db: Queryable,
  options: { id: string; userId: string },
): Promise<HookRow | null> {
  const [row] = await db
    .select()
    .from(hooks)
    .where(and(eq(hooks.id, options.id), eq(hooks.userId, options.userId)));
  return row ?? null;
}

/** An open hook accepts deliveries: its owner is active and it is not suspended. The ingest has the same rule in SQL. */
const isOpen = sql<boolean>`(${users.isActive} and ${hooks.suspendedAt} is null)`;

export interface HookOfKey {
  id: string;
  keyHash: Buffer;
  isOpen: boolean;
}

/** The webhooks that belong to these key hashes; unknown, renewed and deleted keys have none. */
export async function findHooksByHash(db: Queryable, keyHashes: Buffer[]): Promise<HookOfKey[]> {
  return await db
    .select({ id: hooks.id, keyHash: hooks.keyHash, isOpen })
    .from(hooks)
    .innerJoin(users, eq(users.id, hooks.userId))
    .where(inArray(hooks.keyHash, keyHashes));
}

/** Fails with a unique violation when the user already has a hook. */
export async function insertHook(db: Queryable, hook: HookRow): Promise<void> {
  await db.insert(hooks).values(hook);
}

export async function updateHook(
  db: Queryable,
  options: {
    id: string;
    userId: string;
    changes: Partial<Pick<HookRow, 'name' | 'keyHash' | 'keySealed'>>;
    now: Date;
  },
): Promise<HookRow | null> {
  const [row] = await db
    .update(hooks)
    .set({ ...options.changes, updatedAt: options.now })
    .where(and(eq(hooks.id, options.id), eq(hooks.userId, options.userId)))
    .returning();
  return row ?? null;
}

/** Keeps a suspended hook: its owner could just create another. */
export async function deleteOwnHook(
  db: Queryable,
  { id, userId }: { id: string; userId: string },
): Promise<boolean> {
  return await deleteHook(db, and(eq(hooks.id, id), eq(hooks.userId, userId), isNull(hooks.suspendedAt)));
}

export const deleteAnyHook = (db: Queryable, id: string): Promise<boolean> =>
  deleteHook(db, eq(hooks.id, id));

async function deleteHook(db: Queryable, which: SQL | undefined): Promise<boolean> {
  const removed = await db.delete(hooks).where(which).returning({ id: hooks.id });
  return removed.length > 0;
}

/** Newest first. Ids are time-ordered, and the index covers (hook, id). */
export async function listDeliveries(db: Queryable, options: { hookId: string; limit: number }) {
  return db
    .select()
    .from(deliveries)
    .where(eq(deliveries.hookId, options.hookId))
    .orderBy(desc(deliveries.id))
    .limit(options.limit);
}

export interface HookWithOwner {
  hook: HookRow;
  owner: { username: string; isActive: boolean; isAdmin: boolean };
}

const withOwner = {
  hook: hooks,
  owner: { username: users.username, isActive: users.isActive, isAdmin: users.isAdmin },
};

/** One page of webhooks, of all users or of one, sorted by the owner's username; and the total. */
export async function listAllHooks(
  db: Queryable,
  { userId, page, limit }: { userId?: string | undefined; page: number; limit: number },
): Promise<{ rows: HookWithOwner[]; total: number }> {
  const which = userId === undefined ? undefined : eq(hooks.userId, userId);
  const rows = await db
    .select(withOwner)
    .from(hooks)
    .innerJoin(users, eq(users.id, hooks.userId))
    .where(which)
    .orderBy(asc(users.usernameKey))
    .limit(limit)
    .offset((page - 1) * limit);
  const [counted] = await db.select({ total: count() }).from(hooks).where(which);
  return { rows, total: counted?.total ?? 0 };
}

export async function findHookWithOwner(db: Queryable, id: string): Promise<HookWithOwner | null> {
  const [row] = await db
    .select(withOwner)
    .from(hooks)
    .innerJoin(users, eq(users.id, hooks.userId))
    .where(eq(hooks.id, id));
  return row ?? null;
}

/** A hook that is already suspended keeps its `suspendedAt`. */
export async function setHookSuspended(
  db: Queryable,
  { id, suspended, now }: { id: string; suspended: boolean; now: Date },
): Promise<void> {
  const suspendedAt = suspended ? sql`coalesce(${hooks.suspendedAt}, ${now})` : null;
  await db.update(hooks).set({ suspendedAt, updatedAt: now }).where(eq(hooks.id, id));
}
