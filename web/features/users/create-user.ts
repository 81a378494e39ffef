import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { CreateUserBody, User } from '#contract/users.ts';
import { requestJson } from '../../lib/api-client.ts';
import { usersPath } from './get-users.ts';

export function useCreateUser() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: CreateUserBody) =>
      requestJson<{ user: User }>('/api/admin/create-client', { method: 'POST', body }),
    onSuccess: () => client.invalidateQueries({ queryKey: [usersPath] }),
  });
}
