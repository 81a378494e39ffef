import { useMutation, useQueryClient } from '@tanstack/react-query';
import { requestJson } from '../../lib/api-client.ts';
import { announceSession, signingOutKey, useForgetSession } from '../../lib/session.ts';

export function useSignOut() {
  const client = useQueryClient();
  const forgetSession = useForgetSession();
  return useMutation({
    mutationFn: () => requestJson('/api/auth/logout', { method: 'POST' }),
    // What is loading, or begins to, would be refused once the session has ended.
    onMutate: () => {
      client.setQueryData(signingOutKey, true);
      return client.cancelQueries();
    },
    onSuccess: () => {
      announceSession();
      return forgetSession();
    },
    onError: () => {
      client.setQueryData(signingOutKey, false);
      return client.refetchQueries({
        predicate: ({ state }) => state.data === undefined || state.status === 'error',
        type: 'active',
      });
    },
  });
}
