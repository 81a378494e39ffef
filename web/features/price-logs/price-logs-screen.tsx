import { Button } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { lazy, Suspense, useMemo } from 'react';
import type { PriceLog } from '#contract/price-logs.ts';
import { formatInstant } from '../../lib/format.ts';
import { useSession } from '../../lib/session.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ErrorBanner, ErrorState } from '../../ui/states.tsx';
import { PAGE_SIZE, usePriceLogs } from './get-price-logs.ts';
import { NumberedPager } from './numbered-pager.tsx';
import { PriceLogFilters } from './price-log-filters.tsx';
import { priceLogsColumns } from './price-logs-columns.tsx';
import type { PriceLogsSearch } from './price-logs-search.ts';
import { TimestampLegend } from './timestamp-legend.tsx';

const ParametersDialog = lazy(() => import('./parameters-dialog.tsx'));

interface PriceLogsScreenProps {
  search: PriceLogsSearch;
  onSearch: (change: PriceLogsSearch) => void;
}

const rowId = (log: PriceLog) => log.id;

export function PriceLogsScreen({ search, onSearch }: PriceLogsScreenProps) {
  const { displayTimezone } = useSession();
  const logs = usePriceLogs(search);
  const columns = useMemo(
    () =>
      priceLogsColumns({
        formatInstant: (instant) => formatInstant(instant, displayTimezone),
        onView: (log) => onSearch({ log: log.id }),
      }),
    [displayTimezone, onSearch],
  );
  const { data } = logs;
  const shown = data?.priceLogs.find((log) => log.id === search.log);
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
        <Button
          variant="default"
          leftSection={<IconRefresh size={16} aria-hidden />}
          disabled={logs.isFetching}
          onClick={() => void logs.refetch()}
        >
          Refresh
        </Button>
      }
    >
      <Panel
        flush
        title="Received Prices"
        description={data ? `${data.total} entries` : ''}
        aside={<PriceLogFilters search={search} onSearch={onSearch} />}
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
            faded={logs.isPlaceholderData}
          />
        )}
        <NumberedPager
          page={search.page ?? 1}
          pageSize={PAGE_SIZE}
          total={data?.total ?? 0}
          onPage={(page) => onSearch({ page })}
        />
      </Panel>
      <TimestampLegend />
      {shown ? (
        <Suspense fallback={null}>
          <ParametersDialog log={shown} onClose={() => onSearch({ log: undefined })} />
        </Suspense>
      ) : null}
    </Page>
  );
}
