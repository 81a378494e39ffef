import type { QueryClient } from '@tanstack/react-query';
import type { SessionAnswer } from '#contract/auth.ts';

export const sessionKey = ['/api/auth/user'] as const;

/**
 * Nothing of a former user stays in memory: cached data never goes stale by itself. Whoever learns that the session has
 * ended or is somebody else's, it is forgotten before other screens open.
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
