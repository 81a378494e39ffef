import { useSearch } from '@tanstack/react-router';
import { useEnvironmentStatus } from '../../features/environment/environment-status.ts';
import { useTradingHalts } from '../../features/trading-halts/get-trading-halts.ts';
import { reasonsByUser } from '../../features/trading-halts/halt-text.ts';
import { UsersScreen } from '../../features/users/users-screen.tsx';
import type { UsersSearch } from '../../features/users/users-search.ts';
import { useChangeSearch } from '../../lib/use-change-search.ts';

export function UsersPage() {
  const halts = useTradingHalts().data?.halts ?? [];
  return (
    <UsersScreen
      search={useSearch({ from: '/administrators/create-client' })}
      onSearch={useChangeSearch<UsersSearch>()}
      halted={reasonsByUser(halts)}
      exchangeMode={useEnvironmentStatus().data?.exchangeMode}
    />
  );
}
