import { and, eq, gt } from 'drizzle-orm';
import type { AdminSettingsBody } from '#contract/settings.ts';
import type { EligibilityUser } from '#domain/eligibility/eligibility-rules.ts';
import type { TradingSettings } from '#domain/user-settings.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import { userSettings, users } from '#server/platform/db/schema.ts';
import type { SettingsRow } from '../users/user-rows.ts';
import { settingsUpdatedAt } from '../users/users.store.ts';

/** A user for the eligibility check, without the exchange connection and halts, which other features provide. */
export type TradingUser = Omit<EligibilityUser, 'exchangeReady' | 'tradingHalt' | 'tradingStop'>;

/** A user's settings for the domain; null without settings. */
export async function findTradingSettings(db: Queryable, userId: string): Promise<TradingSettings | null> {
  return (await listTradingSettings(db, [userId])).get(userId) ?? null;
}

/** The settings of these users for the domain, by the user's id. */
export async function listTradingSettings(
  db: Queryable,
  userIds: readonly string[],
): Promise<Map<string, TradingSettings>> {
  const rows = await db.select().from(userSettings).where(isOneOf(userSettings.userId, userIds));
  return new Map(rows.map((row) => [row.userId, toTradingSettings(row)]));
}

/** The users whose settings pause them now; `userId`: only this one. */
export async function listPauses(
  db: Queryable,
  { now, userId }: { now: Date; userId: string | null },
): Promise<{ userId: string; until: Date }[]> {
  const { userId: id, tradingPausedUntil } = userSettings;
  const rows = await db
    .select({ userId: id, until: tradingPausedUntil })
    .from(userSettings)
    .where(and(gt(tradingPausedUntil, now), userId === null ? undefined : eq(id, userId)))
    .orderBy(id);
  return rows.flatMap(({ until, ...row }) => (until === null ? [] : [{ ...row, until }]));
}

/**
 * All users with their settings, including inactive users: eligibility gives a reason for each. `userId`: only this
 * user.
 */
export async function listTradingUsers(
  db: Queryable,
  { userIds }: { userIds?: readonly string[] | undefined } = {},
): Promise<TradingUser[]> {
  const { id, username, isActive, isTestUser, isAdmin } = users;
  const rows = await db
    .select({ id, username, isActive, isTestUser, isAdmin, settings: userSettings })
    .from(users)
    .leftJoin(userSettings, eq(userSettings.userId, users.id))
    .where(userIds === undefined ? undefined : isOneOf(id, userIds));
  return rows.map((row) => ({
    ...row,
    settings: row.settings === null ? null : toTradingSettings(row.settings),
  }));
}

/** The exchanges named in the settings of active users. */
export async function listExchangesInUse(db: Queryable): Promise<string[]> {
  const rows = await db
    .selectDistinct({ platform: userSettings.exchangePlatform })
    .from(userSettings)
    .innerJoin(users, eq(users.id, userSettings.userId))
    .where(eq(users.isActive, true));
  return rows.map(({ platform }) => platform);
}

/**
 * Writes the given fields; omitted fields keep their value. False when the user has no settings or they have changed
 * since `updatedAt`.
 */
export async function updateSettings(
  db: Queryable,
  options: { userId: string; changes: AdminSettingsBody; now: Date },
): Promise<boolean> {
  const { isTestUser, tradingPausedUntil, updatedAt, ...fields } = options.changes;
  const { userId, now } = options;
  const changed = await db
    .update(userSettings)
    .set({
      ...fields,
      tradingPausedUntil: tradingPausedUntil == null ? tradingPausedUntil : new Date(tradingPausedUntil),
      updatedAt: settingsUpdatedAt(now),
    })
    .where(
      and(
        eq(userSettings.userId, userId),
        updatedAt === undefined ? undefined : eq(userSettings.updatedAt, new Date(updatedAt)),
      ),
    )
    .returning({ userId: userSettings.userId });
  if (changed.length > 0 && isTestUser !== undefined) {
    await db.update(users).set({ isTestUser, updatedAt: now }).where(eq(users.id, userId));
  }
  return changed.length > 0;
}

function toTradingSettings(row: SettingsRow): TradingSettings {
  const { userId: _userId, updatedAt: _updatedAt, ...settings } = row;
  return settings;
}

/** Drops undefined fields, which a spread would write. */
export function withoutUndefined<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Fields]?: Exclude<Fields[Key], undefined>;
  };
}
