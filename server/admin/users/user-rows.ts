import type { CurrentUser } from '#contract/auth.ts';
import type { UserSettings } from '#contract/settings.ts';
import { LONGEST_USERNAME, type User } from '#contract/users.ts';
import type { userSettings, users } from '#server/platform/db/schema.ts';
import { isoDates } from '#server/platform/iso-dates.ts';

export type UserRow = typeof users.$inferSelect;
export type SettingsRow = typeof userSettings.$inferSelect;

/** Usernames with the same key are equal; the key ignores letter case and Unicode compatibility forms. */
export function usernameKey(username: string): string {
  return username.normalize('NFKC').trim().toLowerCase();
}

/** The key of a typed name. Null for a name too long for any account, which is not normalised. */
export function typedUsernameKey(typed: string): string | null {
  const username = typed.trim();
  return username.length > LONGEST_USERNAME ? null : usernameKey(username);
}

/** The user as administrators see it. Every field is listed, so the password hash cannot leak. */
export function toUser(user: UserRow, settings: SettingsRow | null): User {
  return {
    id: user.id,
    username: user.username,
    firstName: user.firstName,
    lastName: user.lastName,
    countryCode: user.countryCode,
    mobileNumber: user.mobileNumber,
    isAdmin: user.isAdmin,
    isActive: user.isActive,
    isTestUser: user.isTestUser,
    createdAt: user.createdAt.toISOString(),
    userActive: user.isActive,
    activeTradingEnabled: settings?.activeTrading ?? false,
    settings: settings === null ? null : toUserSettings(user, settings),
  };
}

export function toUserSettings(
  { isTestUser }: Pick<UserRow, 'isTestUser'>,
  { userId: _userId, ...settings }: SettingsRow,
): UserSettings {
  return { ...isoDates(settings), isTestUser };
}

export function toCurrentUser(user: UserRow): CurrentUser {
  return {
    id: user.id,
    username: user.username,
    isAdmin: user.isAdmin,
    firstName: user.firstName,
    lastName: user.lastName,
    countryCode: user.countryCode,
    mobileNumber: user.mobileNumber,
  };
}
