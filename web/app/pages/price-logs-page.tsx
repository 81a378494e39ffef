import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { PriceLogsScreen } from '../../features/price-logs/price-logs-screen.tsx';
import type { PriceLogsSearch } from '../../features/price-logs/price-logs-search.ts';

export function PriceLogsPage() {
  const search = useSearch({ from: '/administrators/price-logs' });
  const navigate = useNavigate({ from: '/price-logs' });
  const onSearch = useCallback(
    (change: PriceLogsSearch) =>
      void navigate({
        to: '/price-logs',
        search: (before) => ({ ...before, ...change }),
        resetScroll: false,
      }),
    [navigate],
  );
  return <PriceLogsScreen search={search} onSearch={onSearch} />;
}
