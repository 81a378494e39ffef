import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { orderSubmissionAllowed } from '#domain/eligibility/trading-mode.ts';
import { CalculatorScreen } from '../../features/calculator/calculator-screen.tsx';
import type { CalculatorSearch } from '../../features/calculator/calculator-search.ts';
import { useEnvironmentStatus } from '../../features/environment/environment-status.ts';

export function PositionCalculatorPage() {
  const search = useSearch({ from: '/administrators/position-calculator' });
  const navigate = useNavigate({ from: '/position-calculator' });
  const onSearch = useCallback(
    (change: CalculatorSearch) =>
      void navigate({
        to: '/position-calculator',
        search: (before) => ({ ...before, ...change }),
        resetScroll: false,
      }),
    [navigate],
  );
  const { data: environment } = useEnvironmentStatus();
  return (
    <CalculatorScreen
      search={search}
      onSearch={onSearch}
      tradingDisabled={environment !== undefined && !orderSubmissionAllowed(environment)}
      exchangeMode={environment?.exchangeMode}
    />
  );
}
