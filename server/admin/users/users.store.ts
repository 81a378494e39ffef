import { and, asc, count, eq, sql } from 'drizzle-orm';
import { DEFAULT_USER_SETTINGS } from '#domain/user-settings.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { userSettings, users } from '#server/platform/db/schema.ts';
import { matchUsers, orderUsers, type UserFilter, type UserOrder } from './arrange-users.ts';
import type { SettingsRow, UserRow } from './user-rows.ts';

export interface UserWithSettings {
  user: UserRow;
  settings: SettingsRow | null;
}

const withSettings = { user: users, settings: userSettings };

export async function findUser(db: Queryable, id: string): Promise<UserWithSettings | null> {
  const [row] = await db
    .select(withSettings)
    .from(users)
    .leftJoin(userSettings, eq(userSettings.userId, users.id))
    .where(eq(users.id, id));
  return row ?? null;
}

export async function findUserByKey(db: Queryable, key: string): Promise<UserRow | null> {
  const [row] = await db.select().from(users).where(eq(users.usernameKey, key));
  return row ?? null;
}

export async function listUsers(
  db: Queryable,
  options: UserFilter & { order?: UserOrder | undefined; page?: { limit: number; offset: number } },
): Promise<UserWithSettings[]> {
  const rows = db
    .select(withSettings)
    .from(users)
    .leftJoin(userSettings, eq(userSettings.userId, users.id))
    .where(matchUsers(options))
    .orderBy(...orderUsers(options.order));
  if (options.page === undefined) return rows;
  return rows.limit(options.page.limit).offset(options.page.offset);
}

export async function countUsers(db: Queryable, filter: UserFilter): Promise<number> {
  const [row] = await db.select({ total: count() }).from(users).where(matchUsers(filter));
  return row?.total ?? 0;
}

export async function listUserNames(db: Queryable): Promise<{ id: string; username: string }[]> {
  return db.select({ id: users.id, username: users.username }).from(users).orderBy(asc(users.usernameKey));
}

export async function insertUserWithSettings(db: Queryable, user: UserRow): Promise<UserWithSettings> {
  return db.transaction(async (tx) => {
    await tx.insert(users).values(user);
    const settings = { ...DEFAULT_USER_SETTINGS, userId: user.id, updatedAt: user.createdAt };
    await tx.insert(userSettings).values(settings);
    return { user, settings };
  });
}

/** False when there is no such user. */
export async function setUserActive(
  db: Queryable,
  options: { id: string; isActive: boolean; now: Date },
): Promise<boolean> {
  const changed = await db
    .update(users)
    .set({ isActive: options.isActive, updatedAt: options.now })
    .where(eq(users.id, options.id))
    .returning({ id: users.id });
  return changed.length > 0;
}

/** Always a later one: two changes in the same millisecond, or after the clock went back, must not look alike. */
export const settingsUpdatedAt = (now: Date) =>
  sql`greatest(${now.toISOString()}, ${userSettings.updatedAt} + interval '1 millisecond')`;

/** False when the user has no settings. */
export async function setActiveTrading(
  db: Queryable,
  options: { userId: string; activeTrading: boolean; now: Date },
): Promise<boolean> {
  const changed = await db
    .update(userSettings)
    .set({ activeTrading: options.activeTrading, updatedAt: settingsUpdatedAt(options.now) })
    .where(eq(userSettings.userId, options.userId))
    .returning({ userId: userSettings.userId });
  return changed.length > 0;
}

/**
 * Only if nobody changed it since it was read, and of an active user: of two changes at once, one wins and the
 * other is refused, and a deactivation that commits meanwhile is seen.
 */
export async function replacePasswordHash(
  db: Queryable,
  options: { userId: string; oldHash: string; newHash: string; now: Date },
): Promise<boolean> {
  const changed = await db
    .update(users)
    .set({ passwordHash: options.newHash, updatedAt: options.now })
    .where(
      and(eq(users.id, options.userId), eq(users.passwordHash, options.oldHash), eq(users.isActive, true)),
    )
    .returning({ id: users.id });
  return changed.length > 0;
}

/**
 * Holds the user's row until the transaction ends, and says whether it may still sign in with this password:
 * a deactivation or a password change that commits meanwhile is either seen here or ends the new session.
 */
export async function holdForSignIn(
  db: Queryable,
  options: { userId: string; passwordHash: string },
): Promise<boolean> {
  const rows = await db
    .select({ id: users.id })
    .from(users)
    .where(
      and(
        eq(users.id, options.userId),
        eq(users.passwordHash, options.passwordHash),
        eq(users.isActive, true),
      ),
    )
    .for('share');
  return rows.length > 0;
}
