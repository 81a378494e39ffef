import { lazy, Suspense, useEffect } from 'react';
import { serverMessage } from '../../lib/api-client.ts';
import { LiveStatus } from '../../ui/live-status.tsx';
import { Page } from '../../ui/page.tsx';
import { RefreshButton } from '../../ui/refresh-button.tsx';
import { toastError } from '../../ui/toast.ts';
import { type AutomationSearch, CLOSED_DIALOG } from './automation-search.ts';
import { AutomationTable } from './automation-table.tsx';
import { useWorkflows } from './get-workflows.ts';

const WorkflowStepsDialog = lazy(() => import('./workflow-steps-dialog.tsx'));
const WorkflowUsersDialog = lazy(() => import('./workflow-users-dialog.tsx'));

interface AutomationScreenProps {
  search: AutomationSearch;
  onSearch: (change: AutomationSearch) => void;
  retryDisabled: boolean;
}

export function AutomationScreen({ search, onSearch, retryDisabled }: AutomationScreenProps) {
  const workflows = useWorkflows(search);
  const { error, errorUpdatedAt } = workflows;
  useEffect(() => {
    if (errorUpdatedAt === 0) return;
    toastError({ title: 'Failed to Fetch Workflows', message: serverMessage(error, error?.message ?? '') });
  }, [error, errorUpdatedAt]);
  const close = () => onSearch(CLOSED_DIALOG);

  return (
    <Page
      title="Automation Workflows"
      subtitle="Every workflow run as it happens, and again every 30 seconds"
      actions={
        <>
          <LiveStatus updatedAt={workflows.dataUpdatedAt} />
          <RefreshButton busy={workflows.isFetching} onRefresh={() => void workflows.refetch()} />
        </>
      }
    >
      <AutomationTable
        search={search}
        onSearch={onSearch}
        retryDisabled={retryDisabled}
        workflows={workflows}
      />
      <Suspense fallback={null}>
        {search.dialog === 'users' && search.workflow ? (
          <WorkflowUsersDialog workflowId={search.workflow} onClose={close} />
        ) : null}
        {search.dialog === 'steps' && search.workflow ? (
          <WorkflowStepsDialog
            workflowId={search.workflow}
            title="Workflow Execution Steps"
            emptyText="No execution steps found for this workflow"
            onClose={close}
          />
        ) : null}
      </Suspense>
    </Page>
  );
}
