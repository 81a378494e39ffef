import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isOfOtherUser, isStatus, type QueryParams, requestJson } from './api-client.ts';
import { lookUpSession } from './session.ts';
import { forgetFormerUsers, sessionKey } from './session-key.ts';

/** Nothing is refetched or retried by itself. */
export function createQueryClient(): QueryClient {
  const endSession = (error: unknown) => {
    if (isOfOtherUser(error)) return void lookUpSession(client).catch(() => {});
    if (!isStatus(error, 401)) return;
    client.setQueryData(sessionKey, null);
    // A request that left with the cookie of before a password change is answered so too: the session itself tells.
    void client.invalidateQueries({ queryKey: sessionKey });
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: endSession }),
    mutationCache: new MutationCache({
      // A wrong password at sign-in is answered 401 as well; nobody is signed in then.
      onError: (error) => {
        if (client.getQueryData(sessionKey)) endSession(error);
      },
    }),
    defaultOptions: {
      queries: {
        // A browser that is offline still reaches a server on its own machine.
        networkMode: 'always',
        queryFn: ({ queryKey, signal }) =>
          requestJson(String(queryKey[0]), { params: queryKey[1] as QueryParams | undefined, signal }),
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
