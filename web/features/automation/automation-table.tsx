import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { WorkflowRun, WorkflowsAnswer } from '#contract/automation.ts';
import { Select } from '#web/forms/select.tsx';
import { ColumnsMenu } from '#web/lists/columns-menu.tsx';
import { DataTable } from '#web/lists/data-table.tsx';
import { FilterSelect } from '#web/lists/filter-select.tsx';
import { useHiddenColumns } from '#web/lists/hidden-columns.ts';
import { Pager } from '#web/lists/pager.tsx';
import { useLastPage } from '#web/lists/use-last-page.ts';
import { capitalise, formatCount, formatInstant } from '../../lib/format.ts';
import { useSession } from '../../lib/session.ts';
import { FailedQueries } from '../../ui/failed-queries.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ErrorBanner, ErrorState } from '../../ui/states.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { automationColumns } from './automation-columns.tsx';
import { type AutomationSearch, DEFAULT_PAGE_SIZE, PAGE_SIZES } from './automation-search.ts';
import classes from './automation-table.module.css';
import { useWorkflowFilter } from './get-workflows.ts';
import { useRetryWorkflow } from './retry-workflow.ts';

interface AutomationTableProps {
  search: AutomationSearch;
  onSearch: (change: AutomationSearch) => void;
  retryDisabled: boolean;
  workflows: UseQueryResult<WorkflowsAnswer>;
}

const rowId = (run: WorkflowRun) => run.id;

export function AutomationTable({ search, onSearch, retryDisabled, workflows }: AutomationTableProps) {
  const { displayTimezone } = useSession();
  const [hidden, setHidden] = useHiddenColumns('workflows');
  const { open } = useDialogHistory();
  const retry = useRetryWorkflow();
  const pendingSignalId = retry.isPending ? retry.variables : undefined;
  const columns = useMemo(
    () =>
      automationColumns({
        formatInstant: (instant) => formatInstant(instant, displayTimezone),
        retryDisabled,
        pendingSignalId,
        onOpen: (dialog, run) =>
          open({ dialog, workflow: run.workflowId, signal: run.signalId ?? undefined }),
        onRetry: retry.mutate,
      }),
    [displayTimezone, retryDisabled, pendingSignalId, open, retry.mutate],
  );
  const processors = useWorkflowFilter('processors');
  const statuses = useWorkflowFilter('statuses');
  const { data } = workflows;
  const limit = search.limit ?? DEFAULT_PAGE_SIZE;
  const page = search.page ?? 1;
  const pageCount = data && Math.ceil(data.total / limit);
  useLastPage({ page, pageCount: workflows.isPlaceholderData ? undefined : pageCount });
  const failure = {
    title: 'Failed to Fetch Workflows',
    error: workflows.error,
    onRetry: () => void workflows.refetch(),
    retrying: workflows.isFetching,
  };
  return (
    <Panel
      flush
      title="Workflow Runs"
      description={data ? `Showing ${data.workflows.length} of ${formatCount(data.total)} workflows` : ''}
      aside={
        <>
          <AutomationFilters
            search={search}
            onSearch={onSearch}
            lists={{ processors: processors.data ?? [], statuses: statuses.data ?? [] }}
          />
          <ColumnsMenu columns={columns} hidden={hidden} onChange={setHidden} />
        </>
      }
    >
      <FailedQueries
        queries={[
          { title: 'Failed to fetch processors', query: processors },
          { title: 'Failed to fetch statuses', query: statuses },
        ]}
      />
      {workflows.isError && data ? <ErrorBanner {...failure} /> : null}
      {workflows.isError && !data ? (
        <ErrorState {...failure} />
      ) : (
        <DataTable
          label="Workflow Runs"
          columns={columns}
          rows={data?.workflows}
          rowId={rowId}
          emptyText="No automation workflows found"
          minWidth={1380}
          hidden={hidden}
          faded={workflows.isPlaceholderData}
        />
      )}
      <Pager page={page} pageCount={pageCount} onPage={(next) => onSearch({ page: next })} />
    </Panel>
  );
}

interface AutomationFiltersProps extends Pick<AutomationTableProps, 'search' | 'onSearch'> {
  lists: { processors: string[]; statuses: string[] };
}

/** Changing a filter, or the page size, goes back to page 1. */
function AutomationFilters({ search, onSearch, lists }: AutomationFiltersProps) {
  return (
    <>
      <FilterSelect
        label="Processor"
        allLabel="All processors"
        value={search.processor}
        options={lists.processors}
        onChange={(processor) => onSearch({ processor, page: undefined })}
      />
      <FilterSelect
        label="Status"
        allLabel="All statuses"
        value={search.status}
        options={lists.statuses.map((value) => ({ value, label: capitalise(value) }))}
        onChange={(status) => onSearch({ status, page: undefined })}
      />
      <Select
        className={classes.pageSize}
        size="xs"
        aria-label="Page size"
        data={PAGE_SIZES.map((size) => ({ value: String(size), label: `${size} per page` }))}
        value={String(search.limit ?? DEFAULT_PAGE_SIZE)}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          onSearch({ limit: PAGE_SIZES.find((size) => String(size) === chosen), page: undefined });
        }}
      />
    </>
  );
}
