import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { AutomationScreen } from '../../features/automation/automation-screen.tsx';
import { type AutomationSearch, CLOSED_DIALOG } from '../../features/automation/automation-search.ts';
import {
  areManualTriggersDisabled,
  useEnvironmentStatus,
} from '../../features/environment/environment-status.ts';
import { SignalDetails } from '../../features/signals/signal-details.tsx';
import { Dialog } from '../../ui/dialog.tsx';

export function AutomationPage() {
  const search = useSearch({ from: '/administrators/automation-workflows' });
  const navigate = useNavigate({ from: '/automation-workflows' });
  const onSearch = useCallback(
    (change: AutomationSearch) =>
      void navigate({
        to: '/automation-workflows',
        search: (before) => ({ ...before, ...change }),
        resetScroll: false,
      }),
    [navigate],
  );
  const environment = useEnvironmentStatus();
  return (
    <>
      <AutomationScreen
        search={search}
        onSearch={onSearch}
        retryDisabled={areManualTriggersDisabled(environment.data)}
      />
      <Dialog
        opened={search.dialog === 'signal' && search.signal !== undefined}
        onClose={() => onSearch(CLOSED_DIALOG)}
        title="Signal Details"
        size={860}
      >
        {search.signal ? <SignalDetails signalId={search.signal} /> : null}
      </Dialog>
    </>
  );
}
