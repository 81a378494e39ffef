import { useMutation, useQueryClient } from '@tanstack/react-query';
import { requestJson } from '../../lib/api-client.ts';
import { userPath } from './get-settings.ts';

export function useChangeUserStatus(userId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: 'deactivate' | 'reactivate') =>
      requestJson<{ message: string }>(`/api/admin/users/${encodeURIComponent(userId)}/${change}`, {
        method: 'PATCH',
      }),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: [userPath(userId)] }),
        client.invalidateQueries({ queryKey: ['/api/admin/users'] }),
      ]),
  });
}
