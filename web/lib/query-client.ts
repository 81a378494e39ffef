import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isStatus, type QueryParams, requestJson } from './api-client.ts';
import { forgetUserData, sessionKey } from './session-key.ts';

/** Part 1 §7: nothing is fetched again by itself, and nothing is tried twice. */
export function createQueryClient(): QueryClient {
  const endSession = (error: unknown) => {
    if (!isStatus(error, 401)) return;
    client.setQueryData(sessionKey, null);
    forgetUserData(client);
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
        queryFn: ({ queryKey, signal }) =>
          requestJson(String(queryKey[0]), { params: queryKey[1] as QueryParams | undefined, signal }),
        refetchInterval: false,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        staleTime: Number.POSITIVE_INFINITY,
        retry: false,
      },
      mutations: { retry: false },
    },
  });
  return client;
}
