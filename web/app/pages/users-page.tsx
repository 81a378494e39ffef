import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEnvironmentStatus } from '../../features/environment/environment-status.ts';
import { useTradingHalts } from '../../features/trading-halts/get-trading-halts.ts';
import { reasonsByUser } from '../../features/trading-halts/halt-text.ts';
import { UsersScreen } from '../../features/users/users-screen.tsx';

export function UsersPage() {
  const search = useSearch({ from: '/administrators/create-client' });
  const navigate = useNavigate({ from: '/create-client' });
  const { data: environment } = useEnvironmentStatus();
  const { data: halts } = useTradingHalts();
  return (
    <UsersScreen
      search={search}
      onSearch={(change, how) =>
        void navigate({
          to: '/create-client',
          search: (before) => ({ ...before, ...change }),
          resetScroll: false,
          ...how,
        })
      }
      halted={reasonsByUser(halts?.halts ?? [])}
      exchangeMode={environment?.exchangeMode}
    />
  );
}
