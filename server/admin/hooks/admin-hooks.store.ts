import { asc, count, eq, sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/db/database.ts';
import { hooks, users } from '#server/platform/db/schema.ts';
import type { HookRow } from './hooks.store.ts';

export interface HookWithOwner {
  hook: HookRow;
  owner: { username: string; isActive: boolean; isAdmin: boolean };
}

const withOwner = {
  hook: hooks,
  owner: { username: users.username, isActive: users.isActive, isAdmin: users.isAdmin },
};

/** One page of all webhooks by the usernames of their owners, or the webhook of one user; and how many there are. */
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

/** One that is suspended already keeps its instant. */
export async function setHookSuspended(
  db: Queryable,
  { id, suspended, now }: { id: string; suspended: boolean; now: Date },
): Promise<void> {
  const suspendedAt = suspended ? sql`coalesce(${hooks.suspendedAt}, ${now})` : null;
  await db.update(hooks).set({ suspendedAt, updatedAt: now }).where(eq(hooks.id, id));
}
