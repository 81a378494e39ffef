import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { LoginBody } from '#contract/auth.ts';
import { requestJson } from '../../lib/api-client.ts';
import { lookUpSession } from '../../lib/session.ts';
import { announceSession } from '../../lib/session-news.ts';

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (credentials: LoginBody) => {
      await requestJson('/api/auth/login', { method: 'POST', body: credentials });
      announceSession();
      // The router starts at the dashboard, whatever path the sign-in screen was shown on.
      window.history.replaceState(null, '', '/');
      await lookUpSession(client);
    },
  });
}
