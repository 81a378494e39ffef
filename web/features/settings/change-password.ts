import { useMutation } from '@tanstack/react-query';
import { requestJson } from '../../lib/api-client.ts';

export function useChangePassword(tell: { onSuccess: () => void; onError: (error: Error) => void }) {
  return useMutation({
    mutationFn: (body: { currentPassword: string; newPassword: string }) =>
      requestJson<{ message: string }>('/api/user-settings/change-password', { method: 'PUT', body }),
    ...tell,
    // The passwords do not stay in memory when the dialog is closed.
    gcTime: 0,
  });
}
