import { useQuery } from '@tanstack/react-query';
import type { AccountBalanceAnswer } from '#contract/position-maker.ts';
import type { User, UsersAnswer } from '#contract/users.ts';
import { requestJson } from '../../lib/api-client.ts';
import { useKeptWhileLive } from '../../lib/live/live-context.tsx';
import { readSettings, type StoredSettingsAnswer } from '../../lib/read-settings.ts';

export type TradingUser = Pick<User, 'id' | 'username' | 'userActive' | 'activeTradingEnabled'>;

const usersPath = '/api/admin/users';

/** Without paging: everybody, inactive users included. */
export const useTradingUsers = () =>
  useQuery({
    queryKey: [usersPath],
    queryFn: ({ signal }) => requestJson<UsersAnswer>(usersPath, { signal }),
    select: ({ users }): TradingUser[] => users,
    staleTime: 0,
  });

/** The own settings, or another user's. */
export const settingsPath = ({ userId, isSelf }: { userId: string; isSelf: boolean }): string =>
  isSelf ? '/api/user-settings' : `/api/admin/user-settings/${encodeURIComponent(userId)}`;

export function useTradingSettings(user: { userId: string; isSelf: boolean }) {
  const path = settingsPath(user);
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => requestJson<StoredSettingsAnswer>(path, { signal }),
    select: readSettings,
    ...useKeptWhileLive(),
  });
}

const BALANCE_RETRIES = 2;

export const balancesPath = '/api/admin/account-balance/';

/** Never from memory: what is shown was asked for now. */
export function useAccountBalance(userId: string) {
  const path = `${balancesPath}${encodeURIComponent(userId)}`;
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => requestJson<Partial<AccountBalanceAnswer>>(path, { signal }),
    retry: BALANCE_RETRIES,
    staleTime: 0,
    gcTime: 0,
  });
}
