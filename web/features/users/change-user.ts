import { useMutation, useQueryClient } from '@tanstack/react-query';
import { requestJson } from '../../lib/api-client.ts';
import { usersPath } from './get-users.ts';

export type UserChange =
  | { kind: 'activeTrading'; userId: string; username: string; on: boolean }
  | { kind: 'status'; userId: string; username: string; on: boolean };

const userPath = (userId: string) => `/api/admin/user/${encodeURIComponent(userId)}`;

/** Active trading and access are switched one at a time, each after its own confirmation. */
export function useChangeUser() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ kind, userId, on }: UserChange) => {
      const user = userPath(userId);
      return kind === 'activeTrading'
        ? requestJson<{ message: string }>(`${user}/active-trading`, {
            method: 'PUT',
            body: { activeTrading: on },
          })
        : requestJson<{ message: string }>(`${user}/status`, { method: 'PUT', body: { isActive: on } });
    },
    // A refusal says that the list is out of date as well: the user is gone, or was changed elsewhere.
    onSettled: (_answer, _error, { userId }) =>
      Promise.all(
        [usersPath, userPath(userId), `/api/admin/user-settings/${encodeURIComponent(userId)}`].map((path) =>
          client.invalidateQueries({ queryKey: [path] }),
        ),
      ),
  });
}
