import { useSearch } from '@tanstack/react-router';
import { orderSubmissionAllowed } from '#domain/eligibility/trading-mode.ts';
import { CalculatorScreen } from '../../features/calculator/calculator-screen.tsx';
import type { CalculatorSearch } from '../../features/calculator/calculator-search.ts';
import { useEnvironmentStatus } from '../../features/environment/environment-status.ts';
import { useChangeSearch } from '../../lib/use-change-search.ts';

export function PositionCalculatorPage() {
  const search = useSearch({ from: '/administrators/position-calculator' });
  const onSearch = useChangeSearch<CalculatorSearch>();
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
