import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useCallback } from 'react';
import { PositionsScreen } from '../../features/positions/positions-screen.tsx';
import type { PositionsSearch } from '../../features/positions/positions-search.ts';
import { useTradingHalts } from '../../features/trading-halts/get-trading-halts.ts';

const TradingHaltsPanel = lazy(() => import('../../features/trading-halts/trading-halts-panel.tsx'));

export function PositionsPage() {
  const search = useSearch({ from: '/administrators/positions' });
  const navigate = useNavigate({ from: '/positions' });
  const onSearch = useCallback(
    (change: PositionsSearch) =>
      void navigate({ to: '/positions', search: (before) => ({ ...before, ...change }), resetScroll: false }),
    [navigate],
  );
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
