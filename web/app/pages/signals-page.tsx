import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { WorkflowStepsDialog } from '../../features/automation/workflow-steps-dialog.tsx';
import {
  areManualTriggersDisabled,
  useEnvironmentStatus,
} from '../../features/environment/environment-status.ts';
import { SignalsScreen } from '../../features/signals/signals-screen.tsx';
import { CLOSED_DIALOG, type SignalsSearch } from '../../features/signals/signals-search.ts';

export function SignalsPage() {
  const search = useSearch({ from: '/administrators/signals' });
  const navigate = useNavigate({ from: '/signals' });
  const onSearch = useCallback(
    (change: SignalsSearch) =>
      void navigate({ to: '/signals', search: (before) => ({ ...before, ...change }), resetScroll: false }),
    [navigate],
  );
  const environment = useEnvironmentStatus();
  return (
    <>
      <SignalsScreen
        search={search}
        onSearch={onSearch}
        triggersDisabled={areManualTriggersDisabled(environment.data)}
      />
      <WorkflowStepsDialog
        workflowId={search.dialog === 'steps' ? search.workflow : undefined}
        title="Workflow Execution Details"
        emptyText="No workflow steps found"
        onClose={() => onSearch(CLOSED_DIALOG)}
      />
    </>
  );
}
