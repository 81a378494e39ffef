import { useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import {
  areManualTriggersDisabled,
  useEnvironmentStatus,
} from '../../features/environment/environment-status.ts';
import { SignalsScreen } from '../../features/signals/signals-screen.tsx';
import { closedDialog, type SignalsSearch } from '../../features/signals/signals-search.ts';
import { useChangeSearch } from '../../lib/use-change-search.ts';

const WorkflowStepsDialog = lazy(() => import('../../features/automation/workflow-steps-dialog.tsx'));

export function SignalsPage() {
  const search = useSearch({ from: '/administrators/signals' });
  const onSearch = useChangeSearch<SignalsSearch>();
  const environment = useEnvironmentStatus();
  return (
    <>
      <SignalsScreen
        search={search}
        onSearch={onSearch}
        triggersDisabled={areManualTriggersDisabled(environment.data)}
      />
      {search.dialog === 'steps' && search.workflow ? (
        <Suspense fallback={null}>
          <WorkflowStepsDialog
            workflowId={search.workflow}
            title="Workflow Execution Details"
            emptyText="No workflow steps found"
            onClose={() => onSearch(closedDialog(search))}
          />
        </Suspense>
      ) : null}
    </>
  );
}
