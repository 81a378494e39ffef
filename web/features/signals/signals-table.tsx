import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Signal, SignalsAnswer } from '#contract/signals.ts';
import { formatInstant } from '../../lib/format.ts';
import { useSession } from '../../lib/session.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ErrorBanner, ErrorState } from '../../ui/states.tsx';
import { PAGE_SIZE } from './get-signals.ts';
import { SignalFilters } from './signal-filters.tsx';
import { signalsColumns } from './signals-columns.tsx';
import type { SignalsScreenProps } from './signals-screen.tsx';
import { useTriggerAutomation } from './trigger-automation.ts';

interface SignalsTableProps extends SignalsScreenProps {
  signals: UseQueryResult<SignalsAnswer>;
  lists: { tokens: string[]; processors: string[]; timeframes: string[] };
}

const rowId = (signal: Signal) => signal.id;

export function SignalsTable({ search, onSearch, signals, lists, triggersDisabled }: SignalsTableProps) {
  const { displayTimezone } = useSession();
  const trigger = useTriggerAutomation();
  const pendingSignalId = trigger.isPending ? trigger.variables : undefined;
  const columns = useMemo(
    () =>
      signalsColumns({
        formatInstant: (instant) => formatInstant(instant, displayTimezone),
        triggersDisabled,
        pendingSignalId,
        onOpen: (dialog, signal) =>
          onSearch({
            dialog,
            signal: signal.id,
            workflow: (dialog === 'steps' && signal.workflowId) || undefined,
          }),
        onTrigger: trigger.mutate,
      }),
    [displayTimezone, triggersDisabled, pendingSignalId, onSearch, trigger.mutate],
  );
  const { data } = signals;
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
        data ? `Showing ${data.signals.length} of ${data.total} signals` : signals.isError ? '' : 'Loading...'
      }
      aside={<SignalFilters search={search} lists={lists} onSearch={onSearch} />}
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
          faded={signals.isPlaceholderData}
        />
      )}
      <Pager
        page={search.page ?? 1}
        pageCount={Math.ceil((data?.total ?? 0) / PAGE_SIZE)}
        onPage={(page) => onSearch({ page })}
      />
    </Panel>
  );
}
