import { useSearch } from '@tanstack/react-router';
import { PriceLogsScreen } from '../../features/price-logs/price-logs-screen.tsx';
import type { PriceLogsSearch } from '../../features/price-logs/price-logs-search.ts';
import { useChangeSearch } from '../../lib/use-change-search.ts';

export function PriceLogsPage() {
  const search = useSearch({ from: '/administrators/price-logs' });
  return <PriceLogsScreen search={search} onSearch={useChangeSearch<PriceLogsSearch>()} />;
}
