import { useNavigate, useSearch } from '@tanstack/react-router';
import { eligibilityMode } from '#domain/trading-mode.ts';
import { useEnvironmentStatus } from '../../features/environment/environment-status.ts';
import { UsersScreen } from '../../features/users/users-screen.tsx';

export function UsersPage() {
  const search = useSearch({ from: '/administrators/create-client' });
  const navigate = useNavigate({ from: '/create-client' });
  const { data: environment } = useEnvironmentStatus();
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
      newUsersAreTestUsers={
        environment === undefined ? undefined : eligibilityMode(environment.exchangeMode) === 'sandbox'
      }
    />
  );
}
