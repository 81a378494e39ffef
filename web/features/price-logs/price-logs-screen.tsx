import { lazy, Suspense, useMemo } from 'react';
import type { PriceLog } from '#contract/price-logs.ts';
import { ColumnsMenu } from '#web/lists/columns-menu.tsx';
import { DataTable } from '#web/lists/data-table.tsx';
import { ExportButton } from '#web/lists/export-button.tsx';
import { useHiddenColumns } from '#web/lists/hidden-columns.ts';
import { useLastPage } from '#web/lists/use-last-page.ts';
import { formatCount, formatInstant } from '../../lib/format.ts';
import { useSession } from '../../lib/session.ts';
import { FailedQueries } from '../../ui/failed-queries.tsx';
import { LiveStatus } from '../../ui/live-status.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { RefreshButton } from '../../ui/refresh-button.tsx';
import { ErrorBanner, ErrorState } from '../../ui/states.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { PAGE_SIZE, usePriceLogFilter, usePriceLogs } from './get-price-logs.ts';
import { NumberedPager } from './numbered-pager.tsx';
import { PriceLogFilters } from './price-log-filters.tsx';
import { priceLogsColumns } from './price-logs-columns.tsx';
import type { PriceLogsSearch } from './price-logs-search.ts';
import { TimestampLegend } from './timestamp-legend.tsx';
import { useKeptLog } from './use-kept-log.ts';

const ParametersDialog = lazy(() => import('./parameters-dialog.tsx'));
const PriceLogChartDialog = lazy(() => import('./price-log-chart-dialog.tsx'));

interface PriceLogsScreenProps {
  search: PriceLogsSearch;
  onSearch: (change: PriceLogsSearch) => void;
}

const rowId = (log: PriceLog) => log.id;

export function PriceLogsScreen({ search, onSearch }: PriceLogsScreenProps) {
  const { displayTimezone } = useSession();
  const [hidden, setHidden] = useHiddenColumns('price-logs');
  const dialogs = useDialogHistory();
  const logs = usePriceLogs(search);
  const tokens = usePriceLogFilter('tokens');
  const timeframes = usePriceLogFilter('timeframes');
  const processors = usePriceLogFilter('processors');
  const columns = useMemo(
    () =>
      priceLogsColumns({
        formatInstant: (instant) => formatInstant(instant, displayTimezone),
        onView: (log) => dialogs.open({ log: log.id }),
        onChart: (log) => dialogs.open({ log: log.id, dialog: 'chart' }),
      }),
    [displayTimezone, dialogs],
  );
  const { data } = logs;
  const page = search.page ?? 1;
  useLastPage({
    page,
    pageCount: data && !logs.isPlaceholderData ? Math.ceil(data.total / PAGE_SIZE) : undefined,
  });
  const shown = useKeptLog(data?.priceLogs, search.log);
  const Dialog = search.dialog === 'chart' ? PriceLogChartDialog : ParametersDialog;
  const failure = {
    title: 'Failed to fetch price logs',
    error: logs.error,
    onRetry: () => void logs.refetch(),
    retrying: logs.isFetching,
  };

  return (
    <Page
      title="Price Logs"
      subtitle="Candles and prices as they were received"
      actions={
        <>
          <LiveStatus updatedAt={logs.dataUpdatedAt} />
          <ExportButton
            name="price-logs"
            errorTitle="Failed to fetch price logs"
            createSource={async () =>
              (await import('./price-logs-csv.ts')).priceLogsExport(search, displayTimezone)
            }
          />
          <RefreshButton busy={logs.isFetching} onRefresh={() => void logs.refetch()} />
        </>
      }
    >
      <FailedQueries
        queries={[
          { title: 'Failed to fetch tokens', query: tokens },
          { title: 'Failed to fetch timeframes', query: timeframes },
          { title: 'Failed to fetch processors', query: processors },
        ]}
      />
      <Panel
        flush
        title="Received Prices"
        description={data ? `${formatCount(data.total)} entries` : ''}
        aside={
          <>
            <PriceLogFilters
              search={search}
              onSearch={onSearch}
              lists={{
                tokens: tokens.data ?? [],
                timeframes: timeframes.data ?? [],
                processors: processors.data ?? [],
              }}
            />
            <ColumnsMenu columns={columns} hidden={hidden} onChange={setHidden} />
          </>
        }
      >
        {logs.isError && data ? <ErrorBanner {...failure} /> : null}
        {logs.isError && !data ? (
          <ErrorState {...failure} />
        ) : (
          <DataTable
            label="Price Logs"
            columns={columns}
            rows={data?.priceLogs}
            rowId={rowId}
            emptyText="No price logs found"
            minWidth={1380}
            hidden={hidden}
            faded={logs.isPlaceholderData}
          />
        )}
        <NumberedPager
          page={page}
          pageSize={PAGE_SIZE}
          total={data?.total}
          onPage={(next) => onSearch({ page: next })}
        />
      </Panel>
      <TimestampLegend />
      {shown ? (
        <Suspense fallback={null}>
          <Dialog
            log={shown}
            onClose={() => dialogs.close(() => onSearch({ log: undefined, dialog: undefined }))}
          />
        </Suspense>
      ) : null}
    </Page>
  );
}
