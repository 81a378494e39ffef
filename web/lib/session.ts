import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, use } from 'react';
import type { SessionAnswer } from '#contract/auth.ts';
import { isStatus, requestJson } from './api-client.ts';
import { forgetUserData, sessionKey } from './session-key.ts';

export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  /** Signed out is an answer, not an error. */
  queryFn: async ({ signal }): Promise<SessionAnswer | null> => {
    try {
      return await requestJson<SessionAnswer>(sessionKey[0], { signal });
    } catch (error) {
      if (isStatus(error, 401)) return null;
      throw error;
    }
  },
});

export const useSessionQuery = () => useQuery(sessionQuery);

export const SessionContext = createContext<SessionAnswer | null>(null);

/** The signed-in user; only for components below the session gate. */
export function useSession(): SessionAnswer {
  const session = use(SessionContext);
  if (!session) throw new Error('useSession needs a signed-in user');
  return session;
}

/**
 * After sign-out everything is forgotten, and the session is looked up again. Forgotten first: a look-up that fails
 * must not leave the former user's screens open.
 */
export function useForgetSession(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await client.cancelQueries({ queryKey: sessionKey });
    client.setQueryData(sessionKey, null);
    forgetUserData(client);
    await client.invalidateQueries({ queryKey: sessionKey });
  };
}
