import { type QueryClient, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, use } from 'react';
import type { SessionAnswer } from '#contract/auth.ts';
import { isStatus, requestJson } from './api-client.ts';

export const sessionKey = ['/api/auth/user'] as const;

const sessionQuery = queryOptions({
  queryKey: sessionKey,
  /** Signed out is an answer, not an error: a 401, or a success without a user. */
  queryFn: async ({ signal }): Promise<SessionAnswer | null> => {
    try {
      const answer = await requestJson<Partial<SessionAnswer> | null>(sessionKey[0], {
        signal,
        anyUser: true,
      });
      return answer?.user ? withKnownNames(answer as SessionAnswer) : null;
    } catch (error) {
      if (isStatus(error, 401)) return null;
      throw error;
    }
  },
});

/** Without a time zone the times are those of the browser. */
const withKnownNames = ({ user, displayTimezone }: SessionAnswer): SessionAnswer => ({
  user: { ...user, username: user.username ?? '–' },
  displayTimezone: displayTimezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
});

/** Asks who is signed in now; a look-up that left before does not know. */
export async function lookUpSession(client: QueryClient): Promise<SessionAnswer | null> {
  await client.cancelQueries({ queryKey: sessionKey });
  return await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
}

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
    await client.invalidateQueries({ queryKey: sessionKey });
  };
}

/**
 * Nothing of a former user stays in memory: cached data never goes stale by itself. Once the session is known to
 * have ended or to be another user's, it is forgotten before other screens open.
 */
export function forgetFormerUsers(client: QueryClient): void {
  let known: string | undefined;
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryKey[0] !== sessionKey[0]) return;
    const former = known;
    known = client.getQueryData<SessionAnswer | null>(sessionKey)?.user.id;
    if (former === undefined || former === known) return;
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
    client.getMutationCache().clear();
  });
}

/** Announces sign-ins and sign-outs to the other tabs of this browser, which share the session. */
let channel: BroadcastChannel | null = null;

/** One channel for both directions, so that a tab does not hear itself. A browser without it finds out by asking. */
function openChannel(): BroadcastChannel | null {
  if (channel === null && 'BroadcastChannel' in globalThis) {
    channel = new BroadcastChannel('signal-board-session');
  }
  return channel;
}

export const announceSession = (): void => openChannel()?.postMessage('changed');

/** Returns how to stop listening. */
export function onSessionAnnounced(listener: () => void): () => void {
  const opened = openChannel();
  opened?.addEventListener('message', listener);
  return () => opened?.removeEventListener('message', listener);
}
