import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import type { TradingStatesAnswer } from '#contract/overview.ts';
import { useEnvironmentStatus } from '../../features/environment/environment-status.ts';
import { UsersScreen } from '../../features/users/users-screen.tsx';
import type { UsersSearch } from '../../features/users/users-search.ts';
import { useChangeSearch } from '../../lib/use-change-search.ts';

/** A pause ends by the clock, which nothing announces. */
const REFRESH_MS = 30_000;

export function UsersPage() {
  const { data } = useQuery<TradingStatesAnswer>({
    queryKey: ['/api/trading-states'],
    staleTime: 0,
    refetchInterval: REFRESH_MS,
  });
  return (
    <UsersScreen
      search={useSearch({ from: '/administrators/create-client' })}
      onSearch={useChangeSearch<UsersSearch>()}
      states={new Map(data?.states.map((state) => [state.userId, state]))}
      exchangeMode={useEnvironmentStatus().data?.exchangeMode}
    />
  );
}
