import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { AdminSettingsBody, SettingsBody, UserSettings } from '#contract/settings.ts';
import { requestJson } from '../../lib/api-client.ts';
import { settingsPath } from './get-settings.ts';

interface SettingsAnswer {
  success: true;
  data: UserSettings;
}

/** The fields that everybody may edit: the own ones, or another user's in admin mode. */
export function useSaveSettings(userId: string | null) {
  const keepAnswer = useKeepAnswer(userId);
  return useMutation({
    mutationFn: (body: SettingsBody) =>
      requestJson<SettingsAnswer>(settingsPath(userId), { method: 'PUT', body }),
    onSuccess: keepAnswer,
  });
}

/** The fields that only administrators may edit have only the administrators' path, for the own account too. */
export function useSaveAutomation(user: { id: string; isSelf: boolean }) {
  const keepAnswer = useKeepAnswer(user.isSelf ? null : user.id);
  return useMutation({
    mutationFn: (body: AdminSettingsBody) =>
      requestJson<SettingsAnswer>(settingsPath(user.id), { method: 'PUT', body }),
    onSuccess: keepAnswer,
  });
}

function useKeepAnswer(userId: string | null) {
  const client = useQueryClient();
  return async (answer: SettingsAnswer) => {
    client.setQueryData([settingsPath(userId)], answer);
    // The users table shows the sizing method.
    await client.invalidateQueries({ queryKey: ['/api/admin/users'] });
  };
}

export function useChangePassword(tell: { onSuccess: () => void; onError: (error: Error) => void }) {
  return useMutation({
    mutationFn: (body: { currentPassword: string; newPassword: string }) =>
      requestJson<{ message: string }>('/api/user-settings/change-password', { method: 'PUT', body }),
    ...tell,
    // The passwords do not stay in memory when the dialog is closed.
    gcTime: 0,
  });
}
