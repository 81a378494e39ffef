import type { QueryClient } from '@tanstack/react-query';

export const sessionKey = ['/api/auth/user'] as const;

/** Nothing of a former user stays in memory: cached data never goes stale by itself. */
export function forgetUserData(client: QueryClient): void {
  client.removeQueries({ predicate: (query) => query.queryKey[0] !== sessionKey[0] });
  client.getMutationCache().clear();
}
