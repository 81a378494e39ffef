import { useNavigate, useSearch } from '@tanstack/react-router';
import { SettingsScreen } from '../../features/settings/settings-screen.tsx';

export function SettingsPage() {
  const search = useSearch({ from: '/settings' });
  const navigate = useNavigate({ from: '/settings' });
  return (
    <SettingsScreen
      search={search}
      onSearch={(change) =>
        navigate({ to: '/settings', search: (before) => ({ ...before, ...change }), resetScroll: false })
      }
    />
  );
}
