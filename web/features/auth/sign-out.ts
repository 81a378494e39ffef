import { useMutation, useQueryClient } from '@tanstack/react-query';
import { requestJson } from '../../lib/api-client.ts';
import { announceSession, useForgetSession } from '../../lib/session.ts';

export function useSignOut() {
  const client = useQueryClient();
  const forgetSession = useForgetSession();
  return useMutation({
    mutationFn: () => requestJson('/api/auth/logout', { method: 'POST' }),
    // What is still loading would be refused once the session has ended.
    onMutate: () => client.cancelQueries(),
    onSuccess: () => {
      announceSession();
      return forgetSession();
    },
    onError: () =>
      client.refetchQueries({ predicate: ({ state }) => state.data === undefined, type: 'active' }),
  });
}
