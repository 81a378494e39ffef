import { useSearch } from '@tanstack/react-router';
import { PerformanceScreen } from '../../features/performance/performance-screen.tsx';
import type { PerformanceSearch } from '../../features/performance/performance-search.ts';
import { useChangeSearch } from '../../lib/use-change-search.ts';

export function PerformancePage() {
  const search = useSearch({ from: '/administrators/performance' });
  return <PerformanceScreen search={search} onSearch={useChangeSearch<PerformanceSearch>()} />;
}
