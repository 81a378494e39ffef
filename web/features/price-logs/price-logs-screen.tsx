import { useCallback, useMemo } from 'react';
import type { PRICE_LOGS_PAGE_SIZE, PriceLog, PriceLogsAnswer } from '#contract/price-logs.ts';
import { type ListFilter, TIMEFRAME_FILTER } from '#web/lists/list-filters.tsx';
import { ListScreen, useList } from '#web/lists/list-screen.tsx';
import { TIME_FIELDS, TimeRangeChips } from '#web/lists/time-range.tsx';
import { useKeptRow } from '#web/lists/use-kept-row.ts';
import { formatCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { lazily } from '../../ui/lazily.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { NumberedPager } from './numbered-pager.tsx';
import { priceLogsColumns } from './price-logs-columns.tsx';
import classes from './price-logs-screen.module.css';
import type { PriceLogsSearch } from './price-logs-search.ts';

const PriceLogCard = lazily(() => import('./price-log-card.tsx'));
const PriceLogDialog = lazily(() => import('./price-log-dialog.tsx'));

interface PriceLogsScreenProps {
  search: PriceLogsSearch;
  onSearch: (change: PriceLogsSearch) => void;
}

const FILTERS: readonly ListFilter<PriceLogsSearch>[] = [
  { name: 'token', label: 'Token', list: 'tokens' },
  TIMEFRAME_FILTER,
  { name: 'processor', label: 'Processor', list: 'processors' },
];

const PAGE_SIZE: typeof PRICE_LOGS_PAGE_SIZE = 100;
const POLL_MS = 30_000;

export function PriceLogsScreen({ search, onSearch }: PriceLogsScreenProps) {
  const formatInstant = useFormatInstant();
  const dialogs = useDialogHistory();
  const open = useMemo(
    () => ({
      onView: (log: PriceLog) => dialogs.open({ log: log.id }),
      onChart: (log: PriceLog) => dialogs.open({ log: log.id, dialog: 'chart' }),
    }),
    [dialogs],
  );
  const columns = useMemo(() => priceLogsColumns({ formatInstant, ...open }), [formatInstant, open]);
  const card = useCallback(
    (log: PriceLog) => (
      <PriceLogCard log={log} onView={() => open.onView(log)} onChart={() => open.onChart(log)} />
    ),
    [open],
  );
  const source = {
    path: '/api/price-logs',
    filters: FILTERS,
    fields: TIME_FIELDS,
    pageSize: PAGE_SIZE,
    search,
  };
  const logs = useList<PriceLogsAnswer, PriceLogsSearch>(source, { pollMs: POLL_MS });
  const { data } = logs;
  const shown = useKeptRow(data?.priceLogs, search.log);

  return (
    <ListScreen
      name="price-logs"
      title="Price Logs"
      subtitle="Candles and prices as they were received"
      panelTitle="Received Prices"
      description={data ? `${formatCount(data.total)} entries` : ''}
      label="Price Logs"
      source={source}
      query={logs}
      rowsOf={({ priceLogs }) => priceLogs}
      columns={columns}
      card={card}
      emptyText="No price logs found"
      errorTitle="Failed to fetch price logs"
      hasClear
      range={<TimeRangeChips search={search} onSearch={onSearch} />}
      pager={NumberedPager}
      onSearch={onSearch}
      loadCsv={async () => (await import('./price-logs-csv.ts')).priceLogsCsv}
    >
      <TimestampLegend />
      {shown ? (
        <PriceLogDialog
          log={shown}
          of={search.dialog ?? 'parameters'}
          onClose={() => dialogs.close(() => onSearch({ log: undefined, dialog: undefined }))}
        />
      ) : null}
    </ListScreen>
  );
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
