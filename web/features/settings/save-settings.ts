import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SettingsBody, UserSettings } from '#contract/settings.ts';
import { requestJson } from '../../lib/api-client.ts';
import { settingsPath } from './get-settings.ts';

export function useSaveSettings(userId: string | null) {
  const client = useQueryClient();
  const path = settingsPath(userId);
  return useMutation({
    mutationFn: (body: SettingsBody) =>
      requestJson<{ success: true; data: UserSettings }>(path, { method: 'PUT', body }),
    onSuccess: async (answer) => {
      client.setQueryData([path], answer);
      // The users table shows the sizing method.
      await client.invalidateQueries({ queryKey: ['/api/admin/users'] });
    },
  });
}

export function useChangePassword() {
  return useMutation({
    mutationFn: (body: { currentPassword: string; newPassword: string }) =>
      requestJson<{ message: string }>('/api/user-settings/change-password', { method: 'PUT', body }),
  });
}
