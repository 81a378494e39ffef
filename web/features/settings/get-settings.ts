import { useQuery } from '@tanstack/react-query';
import type { User } from '#contract/users.ts';
import { requestJson } from '../../lib/api-client.ts';
import { useKeptWhileLive } from '../../lib/live/live-context.tsx';
import { readSettings, type StoredSettingsAnswer } from '../../lib/read-settings.ts';

/** Own settings, or another user's in admin mode. */
export const settingsPath = (userId: string | null): string =>
  userId ? `/api/admin/user-settings/${encodeURIComponent(userId)}` : '/api/user-settings';

export const useSettings = (userId: string | null) =>
  useQuery({
    queryKey: [settingsPath(userId)],
    queryFn: ({ signal }) => requestJson<StoredSettingsAnswer>(settingsPath(userId), { signal }),
    select: readSettings,
    ...useKeptWhileLive(),
  });

export const userPath = (userId: string): string => `/api/admin/user/${encodeURIComponent(userId)}`;

export function useOtherUser(userId: string) {
  const path = userPath(userId);
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => requestJson<{ user: User }>(path, { signal }),
    select: (answer) => answer.user,
    ...useKeptWhileLive(),
  });
}

/** What a select offers beside its present value. */
const useChoices = (path: string) =>
  useQuery({ queryKey: [path], queryFn: ({ signal }) => requestJson<string[]>(path, { signal }) });

export const useSignalProcessors = () => useChoices('/api/user-settings/signal-processors');
export const useSignalTimeframes = () => useChoices('/api/user-settings/signal-timeframes');
