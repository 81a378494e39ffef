import { useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { AutomationScreen } from '../../features/automation/automation-screen.tsx';
import { type AutomationSearch, CLOSED_DIALOG } from '../../features/automation/automation-search.ts';
import {
  areManualTriggersDisabled,
  useEnvironmentStatus,
} from '../../features/environment/environment-status.ts';
import { useChangeSearch } from '../../lib/use-change-search.ts';

const SignalDialog = lazy(() => import('../../features/signals/signal-details.tsx'));

export function AutomationPage() {
  const search = useSearch({ from: '/administrators/automation-workflows' });
  const onSearch = useChangeSearch<AutomationSearch>();
  const environment = useEnvironmentStatus();
  return (
    <>
      <AutomationScreen
        search={search}
        onSearch={onSearch}
        retryDisabled={areManualTriggersDisabled(environment.data)}
      />
      {search.dialog === 'signal' && search.signal ? (
        <Suspense fallback={null}>
          <SignalDialog signalId={search.signal} onClose={() => onSearch(CLOSED_DIALOG)} />
        </Suspense>
      ) : null}
    </>
  );
}
