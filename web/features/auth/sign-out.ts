import { useMutation } from '@tanstack/react-query';
import { requestJson } from '../../lib/api-client.ts';
import { announceSession, useForgetSession } from '../../lib/session.ts';

export function useSignOut() {
  const forgetSession = useForgetSession();
  return useMutation({
    mutationFn: () => requestJson('/api/auth/logout', { method: 'POST' }),
    onSuccess: () => {
      announceSession();
      return forgetSession();
    },
  });
}
