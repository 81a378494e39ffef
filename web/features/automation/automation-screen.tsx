import { useCallback, useMemo } from 'react';
import type { WorkflowRun, WorkflowsAnswer } from '#contract/automation.ts';
import { Select } from '#web/forms/select.tsx';
import { IdSearch } from '#web/lists/id-search.tsx';
import { type ListFilter, OUTCOME_FILTER } from '#web/lists/list-filters.tsx';
import { ListScreen, useList } from '#web/lists/list-screen.tsx';
import { TIME_FIELDS, TimeRangeChips } from '#web/lists/time-range.tsx';
import { capitalise, formatCount } from '../../lib/format.ts';
import { lazily } from '../../ui/lazily.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { useErrorToast } from '../../ui/use-error-toast.ts';
import classes from './automation.module.css';
import { automationColumns, workflowCard } from './automation-columns.tsx';
import { type AutomationSearch, CLOSED_DIALOG, DEFAULT_PAGE_SIZE, PAGE_SIZES } from './automation-search.ts';
import { useRetryWorkflow, workflowsPath } from './workflows-data.ts';

const WorkflowStepsDialog = lazily(() => import('./workflow-steps-dialog.tsx'));
const WorkflowUsersDialog = lazily(() => import('./workflow-users-dialog.tsx'));

interface AutomationScreenProps {
  search: AutomationSearch;
  onSearch: (change: AutomationSearch) => void;
  retryDisabled: boolean;
}

const FILTERS: readonly ListFilter<AutomationSearch>[] = [
  { name: 'processor', label: 'Processor', list: 'processors' },
  { name: 'status', label: 'Status', list: 'statuses', display: capitalise },
  OUTCOME_FILTER,
];

const FIELDS = [...TIME_FIELDS, 'id'] as const;
const FAILURE = 'Failed to Fetch Workflows';
const POLL_MS = 30_000;

export function AutomationScreen({ search, onSearch, retryDisabled }: AutomationScreenProps) {
  const { open } = useDialogHistory();
  const retry = useRetryWorkflow();
  const pendingSignalId = retry.isPending ? retry.variables : undefined;
  const onOpen = useCallback(
    (dialog: 'signal' | 'users' | 'steps', run: WorkflowRun) =>
      open({ dialog, workflow: run.workflowId, signal: run.signalId ?? undefined }),
    [open],
  );
  const card = useMemo(() => workflowCard(onOpen), [onOpen]);
  const columns = useMemo(
    () =>
      automationColumns({
        retryDisabled,
        pendingSignalId,
        onOpen,
        onRetry: retry.mutate,
      }),
    [retryDisabled, pendingSignalId, onOpen, retry.mutate],
  );
  const pageSize = search.limit ?? DEFAULT_PAGE_SIZE;
  const source = { path: workflowsPath, filters: FILTERS, fields: FIELDS, pageSize, search };
  const workflows = useList<WorkflowsAnswer, AutomationSearch>(source, { pollMs: POLL_MS });
  const { data } = workflows;
  useErrorToast(workflows, FAILURE);
  const close = () => onSearch(CLOSED_DIALOG);

  return (
    <ListScreen
      name="workflows"
      title="Automation Workflows"
      subtitle="Every workflow run as it happens, and again every 30 seconds"
      panelTitle="Workflow Runs"
      description={data ? `Showing ${data.workflows.length} of ${formatCount(data.total)} workflows` : ''}
      source={source}
      query={workflows}
      rowsOf={(answer) => answer.workflows}
      columns={columns}
      emptyText="No automation workflows found"
      errorTitle={FAILURE}
      sortable
      minWidth={0}
      card={card}
      range={<TimeRangeChips search={search} onSearch={onSearch} />}
      moreFilters={
        <>
          <IdSearch value={search.id} onSearch={(id) => onSearch({ id, page: undefined })} />
          <Select
            className={classes.pageSize}
            size="xs"
            aria-label="Page size"
            data={PAGE_SIZES.map((size) => ({ value: String(size), label: `${size} per page` }))}
            value={String(pageSize)}
            onChange={(event) => {
              const chosen = event.currentTarget.value;
              onSearch({ limit: PAGE_SIZES.find((size) => String(size) === chosen), page: undefined });
            }}
          />
        </>
      }
      onSearch={onSearch}
      loadCsv={async () => (await import('./workflows-csv.ts')).workflowsCsv}
    >
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
    </ListScreen>
  );
}
