import { useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { PositionsScreen } from '../../features/positions/positions-screen.tsx';
import type { PositionsSearch } from '../../features/positions/positions-search.ts';
import { useTradingHalts } from '../../features/trading-halts/get-trading-halts.ts';
import { useChangeSearch } from '../../lib/use-change-search.ts';

const TradingHaltsPanel = lazy(() => import('../../features/trading-halts/trading-halts-panel.tsx'));

export function PositionsPage() {
  const search = useSearch({ from: '/administrators/positions' });
  const onSearch = useChangeSearch<PositionsSearch>();
  const { data: halts } = useTradingHalts();
  const hasHalts = halts !== undefined && halts.halts.length + halts.ended.length > 0;
  return (
    <PositionsScreen
      search={search}
      onSearch={onSearch}
      halts={
        hasHalts ? (
          <Suspense fallback={null}>
            <TradingHaltsPanel answer={halts} />
          </Suspense>
        ) : null
      }
    />
  );
}
