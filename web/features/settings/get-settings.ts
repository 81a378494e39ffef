import { queryOptions, useQuery } from '@tanstack/react-query';
import type { UserSettings } from '#contract/settings.ts';
import type { User } from '#contract/users.ts';
import { requestJson } from '../../lib/api-client.ts';

/** Own settings, or another user's in admin mode. */
export const settingsPath = (userId: string | null): string =>
  userId ? `/api/admin/user-settings/${encodeURIComponent(userId)}` : '/api/user-settings';

const settingsQuery = (userId: string | null) =>
  queryOptions({
    queryKey: [settingsPath(userId)],
    queryFn: ({ signal }) => requestJson<{ data: UserSettings }>(settingsPath(userId), { signal }),
    select: (answer) => answer.data,
  });

export const useSettings = (userId: string | null) => useQuery(settingsQuery(userId));

export function useOtherUser(userId: string | null) {
  const path = `/api/admin/user/${encodeURIComponent(userId ?? '')}`;
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => requestJson<{ user: User }>(path, { signal }),
    select: (answer) => answer.user,
    enabled: userId !== null,
  });
}

const timeframesPath = '/api/user-settings/signal-timeframes';

export const useSignalTimeframes = () =>
  useQuery({
    queryKey: [timeframesPath],
    queryFn: ({ signal }) => requestJson<string[]>(timeframesPath, { signal }),
  });
