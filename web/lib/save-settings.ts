import type { QueryClient } from '@tanstack/react-query';
import type { AdminSettingsBody, UserSettings } from '#contract/settings.ts';
import { ApiError, requestJson } from './api-client.ts';

interface SettingsAnswer {
  success: true;
  data: UserSettings;
}

/** The currently stored settings, returned when a write was refused because they had changed in the meantime. */
export const newerSettings = (error: unknown): UserSettings | undefined =>
  error instanceof ApiError ? error.body?.data : undefined;

/** Saves the settings. After success or refusal, screens that read `readPath` show the stored settings. */
export async function saveSettings(
  client: QueryClient,
  options: { path: string; readPath: string; body: AdminSettingsBody },
): Promise<UserSettings> {
  const { path, readPath, body } = options;
  const show = (data: UserSettings) => client.setQueryData([readPath], { success: true, data });
  try {
    const { data } = await requestJson<SettingsAnswer>(path, { method: 'PUT', body });
    show(data);
    return data;
  } catch (error) {
    const newer = newerSettings(error);
    if (newer !== undefined) show(newer);
    throw error;
  }
}
