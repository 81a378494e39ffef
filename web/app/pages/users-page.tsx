import { useNavigate, useSearch } from '@tanstack/react-router';
import { UsersScreen } from '../../features/users/users-screen.tsx';

export function UsersPage() {
  const search = useSearch({ from: '/administrators/create-client' });
  const navigate = useNavigate({ from: '/create-client' });
  return (
    <UsersScreen
      search={search}
      onSearch={(change) =>
        navigate({ to: '/create-client', search: (before) => ({ ...before, ...change }), resetScroll: false })
      }
    />
  );
}
