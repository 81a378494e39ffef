import { lazy, Suspense, useMemo, useState } from 'react';
import type { PriceLog } from '#contract/price-logs.ts';
import { type ListFilter, TIMEFRAME_FILTER } from '#web/lists/list-filters.tsx';
import { ListScreen } from '#web/lists/list-screen.tsx';
import { formatCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Panel } from '../../ui/panel.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { PAGE_SIZE, priceLogsPath, usePriceLogs } from './get-price-logs.ts';
import { NumberedPager } from './numbered-pager.tsx';
import { priceLogsColumns } from './price-logs-columns.tsx';
import classes from './price-logs-screen.module.css';
import type { PriceLogsSearch } from './price-logs-search.ts';

const ParametersDialog = lazy(() => import('./parameters-dialog.tsx'));
const PriceLogChartDialog = lazy(() => import('./price-log-chart-dialog.tsx'));

interface PriceLogsScreenProps {
  search: PriceLogsSearch;
  onSearch: (change: PriceLogsSearch) => void;
}

const FILTERS: readonly ListFilter<PriceLogsSearch>[] = [
  { name: 'token', label: 'Token', list: 'tokens' },
  TIMEFRAME_FILTER,
  { name: 'processor', label: 'Processor', list: 'processors' },
];

export function PriceLogsScreen({ search, onSearch }: PriceLogsScreenProps) {
  const formatInstant = useFormatInstant();
  const dialogs = useDialogHistory();
  const columns = useMemo(
    () =>
      priceLogsColumns({
        formatInstant,
        onView: (log) => dialogs.open({ log: log.id }),
        onChart: (log) => dialogs.open({ log: log.id, dialog: 'chart' }),
      }),
    [formatInstant, dialogs],
  );
  const logs = usePriceLogs(search);
  const { data } = logs;
  const shown = useKeptLog(data?.priceLogs, search.log);
  const Dialog = search.dialog === 'chart' ? PriceLogChartDialog : ParametersDialog;

  return (
    <ListScreen
      name="price-logs"
      title="Price Logs"
      subtitle="Candles and prices as they were received"
      panelTitle="Received Prices"
      description={data ? `${formatCount(data.total)} entries` : ''}
      label="Price Logs"
      query={logs}
      rows={data?.priceLogs}
      columns={columns}
      emptyText="No price logs found"
      errorTitle="Failed to fetch price logs"
      path={priceLogsPath}
      filters={FILTERS}
      hasClear
      pageSize={PAGE_SIZE}
      pager={NumberedPager}
      search={search}
      onSearch={onSearch}
      createExport={async (timeZone) =>
        (await import('./price-logs-csv.ts')).priceLogsExport(search, timeZone)
      }
    >
      <TimestampLegend />
      {shown ? (
        <Suspense fallback={null}>
          <Dialog
            log={shown}
            onClose={() => dialogs.close(() => onSearch({ log: undefined, dialog: undefined }))}
          />
        </Suspense>
      ) : null}
    </ListScreen>
  );
}

/** The row whose dialog is open. New rows may push it off the page; its dialog does not vanish with it. */
function useKeptLog(rows: readonly PriceLog[] | undefined, id: string | undefined): PriceLog | undefined {
  const [kept, setKept] = useState<PriceLog>();
  const found = id === undefined ? undefined : rows?.find((log) => log.id === id);
  if (found !== undefined && found !== kept) setKept(found);
  return found ?? (kept?.id === id ? kept : undefined);
}

function TimestampLegend() {
  return (
    <Panel title="About the timestamps">
      <dl className={classes.legend}>
        <dt>Original Time (TradingView)</dt>
        <dd>The candle's time as the charting platform sent it, unchanged.</dd>
        <dt>Candle Time (Server TZ)</dt>
        <dd>The same moment in the display time zone of this server.</dd>
        <dt>Received At (Server TZ)</dt>
        <dd>When the webhook call arrived. A delay of 15-30 minutes is expected for webhook calls.</dd>
      </dl>
    </Panel>
  );
}
