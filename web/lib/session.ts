import { type QueryClient, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, use } from 'react';
import type { SessionAnswer } from '#contract/auth.ts';
import { isStatus, requestJson } from './api-client.ts';

export const sessionKey = ['/api/auth/user'] as const;
/** True from the click on Sign Out to its answer. */
export const signingOutKey = ['signing out'] as const;

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

/** Falls back to the browser's time zone. */
const withKnownNames = ({ user, displayTimezone, mustEnrolFactor }: SessionAnswer): SessionAnswer => ({
  user: { ...user, username: user.username ?? '–' },
  displayTimezone: displayTimezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  ...(mustEnrolFactor === true ? { mustEnrolFactor } : {}),
});

/** Looks up the signed-in user. Cancels an earlier look-up, whose answer would be outdated. */
export async function lookUpSession(client: QueryClient): Promise<SessionAnswer | null> {
  await client.cancelQueries({ queryKey: sessionKey });
  return await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
}

export const useSessionQuery = () => useQuery(sessionQuery);

export const SessionContext = createContext<SessionAnswer | null>(null);

/** The signed-in user's session; only for components below the session gate. */
export function useSession(): SessionAnswer {
  const session = use(SessionContext);
  if (!session) throw new Error('useSession needs a signed-in user');
  return session;
}

/**
 * Forgets everything after sign-out, then looks up the session. In this order, because a failed look-up must not leave
 * the former user's screens open.
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
 * Removes a former user's data from memory, because cached data never goes stale. Once the session is known to have
 * ended or to belong to another user, this happens before other screens open.
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

/** One channel for sending and receiving, so that a tab does not hear itself. Browsers without it learn by requests. */
function openChannel(): BroadcastChannel | null {
  if (channel === null && 'BroadcastChannel' in globalThis) {
    channel = new BroadcastChannel('signal-board-session');
  }
  return channel;
}

export const announceSession = (): void => openChannel()?.postMessage('changed');

/** Returns a function that stops listening. */
export function onSessionAnnounced(listener: () => void): () => void {
  const opened = openChannel();
  opened?.addEventListener('message', listener);
  return () => opened?.removeEventListener('message', listener);
}
