import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Signal, SignalsAnswer } from '#contract/signals.ts';
import { ColumnsMenu } from '#web/lists/columns-menu.tsx';
import { DataTable } from '#web/lists/data-table.tsx';
import { useHiddenColumns } from '#web/lists/hidden-columns.ts';
import { Pager } from '#web/lists/pager.tsx';
import { useLastPage } from '#web/lists/use-last-page.ts';
import { formatCount, formatInstant } from '../../lib/format.ts';
import { useSession } from '../../lib/session.ts';
import { Panel } from '../../ui/panel.tsx';
import { ErrorBanner, ErrorState } from '../../ui/states.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { useHasCalculator } from './calculator-link.tsx';
import { PAGE_SIZE } from './get-signals.ts';
import { SignalFilters } from './signal-filters.tsx';
import { signalsColumns } from './signals-columns.tsx';
import type { SignalsSearch } from './signals-search.ts';
import { useTriggerAutomation } from './trigger-automation.ts';

interface SignalsTableProps {
  search: SignalsSearch;
  onSearch: (change: SignalsSearch) => void;
  triggersDisabled: boolean;
  signals: UseQueryResult<SignalsAnswer>;
  lists: { tokens: string[]; processors: string[]; timeframes: string[] };
}

const rowId = (signal: Signal) => signal.id;

export function SignalsTable({ search, onSearch, signals, lists, triggersDisabled }: SignalsTableProps) {
  const { displayTimezone } = useSession();
  const [hidden, setHidden] = useHiddenColumns('signals');
  const { open } = useDialogHistory();
  const hasCalculator = useHasCalculator();
  const trigger = useTriggerAutomation();
  const pendingSignalId = trigger.isPending ? trigger.variables : undefined;
  const columns = useMemo(
    () =>
      signalsColumns({
        formatInstant: (instant) => formatInstant(instant, displayTimezone),
        triggersDisabled,
        pendingSignalId,
        onOpen: (dialog, signal) =>
          open({
            dialog,
            signal: signal.id,
            workflow: (dialog === 'steps' && signal.workflowId) || undefined,
          }),
        onTrigger: trigger.mutate,
        hasCalculator,
      }),
    [displayTimezone, triggersDisabled, pendingSignalId, open, trigger.mutate, hasCalculator],
  );
  const { data } = signals;
  const page = search.page ?? 1;
  const pageCount = data && Math.ceil(data.total / PAGE_SIZE);
  useLastPage({ page, pageCount: signals.isPlaceholderData ? undefined : pageCount });
  const failure = {
    title: 'Failed to fetch signals',
    error: signals.error,
    onRetry: () => void signals.refetch(),
    retrying: signals.isFetching,
  };

  return (
    <Panel
      flush
      title="Signal History"
      description={
        data
          ? `Showing ${data.signals.length} of ${formatCount(data.total)} signals`
          : signals.isError
            ? ''
            : 'Loading...'
      }
      aside={
        <>
          <SignalFilters search={search} lists={lists} onSearch={onSearch} />
          <ColumnsMenu columns={columns} hidden={hidden} onChange={setHidden} />
        </>
      }
    >
      {signals.isError && data ? <ErrorBanner {...failure} /> : null}
      {signals.isError && !data ? (
        <ErrorState {...failure} />
      ) : (
        <DataTable
          label="Signal History"
          columns={columns}
          rows={data?.signals}
          rowId={rowId}
          emptyText="No signals found"
          minWidth={1380}
          hidden={hidden}
          faded={signals.isPlaceholderData}
        />
      )}
      <Pager page={page} pageCount={pageCount} onPage={(next) => onSearch({ page: next })} />
    </Panel>
  );
}
