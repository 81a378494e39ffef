import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isFactorMissing, isOfOtherUser, isStatus, type QueryParams, requestJson } from './api-client.ts';
import { forgetFormerUsers, lookUpSession, sessionKey, signingOutKey } from './session.ts';

/** A client that never refetches or retries on its own initiative. */
export function createQueryClient(): QueryClient {
  const endSession = (error: unknown) => {
    if (isOfOtherUser(error) || isFactorMissing(error)) return void lookUpSession(client).catch(() => {});
    if (!isStatus(error, 401)) return;
    client.setQueryData(sessionKey, null);
    // The user may still be signed in: a request with a cookie from before a password change is refused too.
    void client.invalidateQueries({ queryKey: sessionKey });
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: endSession }),
    mutationCache: new MutationCache({
      // A wrong password at sign-in is also a 401, but without a session.
      onError: (error) => {
        if (client.getQueryData(sessionKey)) endSession(error);
      },
    }),
    defaultOptions: {
      queries: {
        // An offline browser still reaches a server on the same machine.
        networkMode: 'always',
        queryFn: async ({ queryKey, signal }) => {
          // A screen may still draw itself, or hear of a change, while and after its user signs out.
          const isLeaving = client.getQueryData(signingOutKey) === true;
          if (isLeaving || client.getQueryData(sessionKey) === null) throw new Error('Signed out');
          const params = queryKey[1] as QueryParams | undefined;
          return await requestJson(String(queryKey[0]), { params, signal });
        },
        refetchInterval: false,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        staleTime: Number.POSITIVE_INFINITY,
        retry: false,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
  forgetFormerUsers(client);
  return client;
}
