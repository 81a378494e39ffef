import type { QueryClient } from '@tanstack/react-query';
import type { AdminSettingsBody, UserSettings } from '#contract/settings.ts';
import { ApiError, requestJson } from './api-client.ts';

interface SettingsAnswer {
  success: true;
  data: UserSettings;
}

/** What is stored now, where a write was refused because the settings had changed since they were read. */
export const newerSettings = (error: unknown): UserSettings | undefined =>
  error instanceof ApiError ? error.body?.data : undefined;

/** Written or refused: the screens that read `readPath` show what is stored now. */
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
