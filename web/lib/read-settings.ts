import type { UserSettings } from '#contract/settings.ts';
import { DEFAULT_USER_SETTINGS } from '#domain/user-settings.ts';

export interface StoredSettingsAnswer {
  data?: Partial<UserSettings> | null;
}

/** Fills in fields that the forms do not default. A missing answer is an error, not the settings of a new user. */
export function readSettings({ data }: StoredSettingsAnswer): UserSettings {
  if (!data) throw new Error("The answer of the server cannot be read: it lacks 'data'");
  return {
    ...data,
    marketType: data.marketType ?? DEFAULT_USER_SETTINGS.marketType,
    tradingPausedUntil: data.tradingPausedUntil ?? null,
  } as UserSettings;
}
