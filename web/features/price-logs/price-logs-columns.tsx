import { IconChartLine } from '@tabler/icons-react';
import type { PriceLog } from '#contract/price-logs.ts';
import type { TableColumns } from '#web/lists/data-table.tsx';
import { formatReceivedPrice } from '../../lib/figures.ts';
import { shortId } from '../../lib/format.ts';
import { CellButton } from '../../ui/cell-button.tsx';
import { TimeframeBadge, TokenBadge } from '../../ui/trading-badges.tsx';
import classes from './price-logs-screen.module.css';

interface ColumnOptions {
  formatInstant: (instant: string | null) => string;
  onView: (log: PriceLog) => void;
  onChart: (log: PriceLog) => void;
}

const HASH_LENGTH = 16;

export function priceLogsColumns({ formatInstant, onView, onChart }: ColumnOptions): TableColumns<PriceLog> {
  return [
    {
      id: 'id',
      header: 'ID',
      fold: 2,
      cell: (log) => (
        <span className="mono" data-tip={log.id}>
          {shortId(log.id, 9)}
        </span>
      ),
    },
    { id: 'token', header: 'Token', cell: (log) => <TokenBadge token={log.token} /> },
    {
      id: 'timeframe',
      header: 'Timeframe',
      cell: (log) => <TimeframeBadge timeframe={log.timeframe} />,
    },
    {
      id: 'price',
      header: 'Price',
      align: 'right',
      cell: (log) => <span data-tip={`${log.price} ${log.currency}`}>{formatReceivedPrice(log.price)}</span>,
    },
    { id: 'currency', header: 'Currency', fold: 1, cell: (log) => log.currency },
    {
      id: 'original',
      header: 'Original Time (TradingView)',
      cell: (log) => log.candleTimeTradingview || 'N/A',
    },
    {
      id: 'candle',
      header: 'Candle Time (Server TZ)',
      cell: (log) => formatInstant(log.candleTimeServer),
    },
    {
      id: 'received',
      header: 'Received At (Server TZ)',
      cell: (log) => formatInstant(log.receivedAt),
    },
    { id: 'source', header: 'Source', fold: 1, cell: (log) => log.sourceIp },
    {
      id: 'hash',
      header: 'Hash Value',
      fold: 1,
      cell: (log) => (
        <span className="mono" data-tip={log.hashValue}>
          {log.hashValue.slice(0, HASH_LENGTH)}…
        </span>
      ),
    },
    {
      id: 'parameters',
      header: 'Parameters',
      cell: (log) => (
        <span className={classes.actions}>
          {Object.keys(log.parameters).length > 0 ? (
            <CellButton
              text="View"
              opens={`parameters of ${shortId(log.id, 9)}`}
              onClick={() => onView(log)}
            />
          ) : (
            'No parameters available'
          )}
          <CellButton
            text="Chart"
            tip="Show chart"
            opens={`candles around ${shortId(log.id, 9)}`}
            onClick={() => onChart(log)}
          >
            <IconChartLine size={16} aria-hidden />
          </CellButton>
        </span>
      ),
    },
  ];
}
