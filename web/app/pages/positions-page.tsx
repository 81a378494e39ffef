import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { PositionsScreen } from '../../features/positions/positions-screen.tsx';
import type { PositionsSearch } from '../../features/positions/positions-search.ts';

export function PositionsPage() {
  const search = useSearch({ from: '/administrators/positions' });
  const navigate = useNavigate({ from: '/positions' });
  const onSearch = useCallback(
    (change: PositionsSearch) =>
      void navigate({ to: '/positions', search: (before) => ({ ...before, ...change }), resetScroll: false }),
    [navigate],
  );
  return <PositionsScreen search={search} onSearch={onSearch} />;
}
