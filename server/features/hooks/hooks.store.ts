import { and, desc, eq, inArray } from 'drizzle-orm';
import type { Queryable } from '#server/platform/database/database.ts';
import { deliveries, hooks } from '#server/platform/database/schema.ts';

export type HookRow = typeof hooks.$inferSelect;

/** A user's hooks: at most one. */
export async function listHooks(db: Queryable, userId: string): Promise<HookRow[]> {
  return db.select().from(hooks).where(eq(hooks.userId, userId));
}

/** By id and owner: somebody else's hook is not found. */
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

/** The webhooks that the keys with these hashes open; unknown, renewed and deleted keys open none. */
export async function findHooksByHash(
  db: Queryable,
  keyHashes: Buffer[],
): Promise<Pick<HookRow, 'id' | 'keyHash'>[]> {
  return await db
    .select({ id: hooks.id, keyHash: hooks.keyHash })
    .from(hooks)
    .where(inArray(hooks.keyHash, keyHashes));
}

/** Fails with a unique violation when the user has one already. */
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

export async function deleteHook(db: Queryable, options: { id: string; userId: string }): Promise<boolean> {
  const removed = await db
    .delete(hooks)
    .where(and(eq(hooks.id, options.id), eq(hooks.userId, options.userId)))
    .returning({ id: hooks.id });
  return removed.length > 0;
}

/** Newest first. Ids are time-ordered, and the index holds them by hook. */
export async function listDeliveries(db: Queryable, options: { hookId: string; limit: number }) {
  return db
    .select()
    .from(deliveries)
    .where(eq(deliveries.hookId, options.hookId))
    .orderBy(desc(deliveries.id))
    .limit(options.limit);
}
