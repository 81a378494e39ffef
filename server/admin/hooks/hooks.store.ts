import { and, asc, desc, eq, inArray, sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/db/database.ts';
import { deliveries, hooks, users } from '#server/platform/db/schema.ts';

export type HookRow = typeof hooks.$inferSelect;

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
  return { rows, total: await db.$count(hooks, which) };
}

export async function findHookWithOwner(db: Queryable, id: string): Promise<HookWithOwner | null> {
  const [row] = await db
    .select(withOwner)
    .from(hooks)
    .innerJoin(users, eq(users.id, hooks.userId))
    .where(eq(hooks.id, id));
  return row ?? null;
}
