import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { LoginBody } from '#contract/auth.ts';
import { requestJson } from '../../lib/api-client.ts';
import { sessionQuery } from '../../lib/session.ts';

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (credentials: LoginBody) => {
      await requestJson('/api/auth/login', { method: 'POST', body: credentials });
      // The router starts at the dashboard, whatever path the sign-in screen was shown on.
      window.history.replaceState(null, '', '/');
      // A look-up from before the sign-in would answer that nobody is signed in.
      await client.cancelQueries({ queryKey: sessionQuery.queryKey });
      await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
    },
  });
}
