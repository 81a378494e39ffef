import { queryOptions, useQuery } from '@tanstack/react-query';
import type { UserSettings } from '#contract/settings.ts';
import type { User } from '#contract/users.ts';
import { requestJson } from '../../lib/api-client.ts';

/** Cached data never goes stale: a form that is opened again must not start from what was stored before. */
const FORGET_WHEN_LEFT = { gcTime: 0 } as const;

/** Own settings, or another user's in admin mode. */
export const settingsPath = (userId: string | null): string =>
  userId ? `/api/admin/user-settings/${encodeURIComponent(userId)}` : '/api/user-settings';

const settingsQuery = (userId: string | null) =>
  queryOptions({
    queryKey: [settingsPath(userId)],
    queryFn: ({ signal }) => requestJson<{ data: UserSettings }>(settingsPath(userId), { signal }),
    select: (answer) => answer.data,
    ...FORGET_WHEN_LEFT,
  });

export const useSettings = (userId: string | null) => useQuery(settingsQuery(userId));

export const userPath = (userId: string): string => `/api/admin/user/${encodeURIComponent(userId)}`;

export function useOtherUser(userId: string) {
  const path = userPath(userId);
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => requestJson<{ user: User }>(path, { signal }),
    select: (answer) => answer.user,
    ...FORGET_WHEN_LEFT,
  });
}

const timeframesPath = '/api/user-settings/signal-timeframes';

export const useSignalTimeframes = () =>
  useQuery({
    queryKey: [timeframesPath],
    queryFn: ({ signal }) => requestJson<string[]>(timeframesPath, { signal }),
  });
