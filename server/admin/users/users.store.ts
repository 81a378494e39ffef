import { and, asc, desc, eq, type SQL, sql } from 'drizzle-orm';
import type { UserSort } from '#contract/users.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { userSettings, users } from '#server/platform/db/schema.ts';
import type { SettingsRow, UserRow } from './user-rows.ts';

interface UserWithSettings {
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
  options: UserFilter & { order: UserOrder | undefined; page: { limit: number; offset: number } | null },
): Promise<UserWithSettings[]> {
  const rows = db
    .select(withSettings)
    .from(users)
    .leftJoin(userSettings, eq(userSettings.userId, users.id))
    .where(matchUsers(options))
    .orderBy(...orderUsers(options.order));
  return options.page === null ? rows : rows.limit(options.page.limit).offset(options.page.offset);
}

export const countUsers = (db: Queryable, filter: UserFilter): Promise<number> =>
  db.$count(users, matchUsers(filter));

export async function listUserNames(db: Queryable): Promise<{ id: string; username: string }[]> {
  return db.select({ id: users.id, username: users.username }).from(users).orderBy(asc(users.usernameKey));
}

/** False when the user does not exist. */
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

/** Always later than the previous value, even within a millisecond or after the clock went back. */
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
 * Replaces an active user's hash only if it is still the old one: of two concurrent changes, one wins and the other is
 * refused.
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
 * Locks the user's row until the transaction ends. False if the user was deactivated or the password changed. A later
 * change waits for the lock and ends the new session.
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

/** Locks the row of an active user until the transaction ends; null for others. */
export async function holdActiveUser(db: Queryable, userId: string): Promise<{ isAdmin: boolean } | null> {
  const [user] = await db
    .select({ isAdmin: users.isAdmin })
    .from(users)
    .where(and(eq(users.id, userId), eq(users.isActive, true)))
    .for('update');
  return user ?? null;
}

interface UserFilter {
  includeInactive: boolean;
  /** Part of the username, of 'first last' or of the phone number; case-insensitive. */
  search?: string | undefined;
}

interface UserOrder {
  sort: UserSort;
  direction: 'asc' | 'desc';
}

const fullName = sql`concat_ws(' ', ${users.firstName}, ${users.lastName})`;
const phone = sql`concat(${users.countryCode}, ${users.mobileNumber})`;

/** Undefined matches all users. */
function matchUsers({ includeInactive, search = '' }: UserFilter): SQL | undefined {
  const active = includeInactive ? undefined : eq(users.isActive, true);
  if (search === '') return active;
  const part = containing(search);
  // Ignore separators in phone numbers: the table shows '+44 7700900123'.
  const digits = search.replace(/[\s()./-]/g, '');
  const byPhone = /^\+?\d+$/.test(digits) ? sql` or ${phone} like ${containing(digits)}` : sql``;
  return and(active, sql`(${users.username} ilike ${part} or ${fullName} ilike ${part}${byPhone})`);
}

/** Newest first by default, so that a new user is on the first page. Ties: newest first, then id. */
function orderUsers(order: UserOrder | undefined): SQL[] {
  const newestFirst = [desc(users.createdAt), desc(users.id)];
  if (order === undefined) return newestFirst;
  const direction = sql.raw(order.direction);
  // Users without a name or without settings come last in both directions.
  return [sql`${SORT_KEYS[order.sort]} ${direction} nulls last`, ...newestFirst];
}

const SORT_KEYS: Record<UserSort, SQL> = {
  username: sql`${users.usernameKey}`,
  name: sql`nullif(lower(${fullName}), '')`,
  createdAt: sql`${users.createdAt}`,
  isActive: sql`${users.isActive}`,
  activeTrading: sql`${userSettings.activeTrading}`,
};

const containing = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
