import type { PriceLog } from '#contract/price-logs.ts';
import { formatPrice, shortId } from '../../lib/format.ts';
import { CellButton } from '../../ui/cell-button.tsx';
import type { TableColumns } from '../../ui/data-table.tsx';
import { TimeframeBadge } from '../../ui/trading-badges.tsx';

interface ColumnOptions {
  formatInstant: (instant: string | null) => string;
  onView: (log: PriceLog) => void;
}

const HASH_LENGTH = 16;

export function priceLogsColumns({ formatInstant, onView }: ColumnOptions): TableColumns<PriceLog> {
  return [
    {
      id: 'id',
      header: 'ID',
      cell: ({ row }) => (
        <span className="mono" data-tip={row.original.id}>
          {shortId(row.original.id, 9)}
        </span>
      ),
    },
    { id: 'token', header: 'Token', cell: ({ row }) => <strong>{row.original.token}</strong> },
    {
      id: 'timeframe',
      header: 'Timeframe',
      cell: ({ row }) => <TimeframeBadge timeframe={row.original.timeframe} />,
    },
    {
      id: 'price',
      header: 'Price',
      meta: { align: 'right' },
      cell: ({ row: { original: log } }) => (
        <span data-tip={`${log.price} ${log.currency}`}>{formatPrice(log.price)}</span>
      ),
    },
    { id: 'currency', header: 'Currency', cell: ({ row }) => row.original.currency },
    {
      id: 'original',
      header: 'Original Time (TradingView)',
      cell: ({ row }) => row.original.candleTimeTradingview || 'N/A',
    },
    {
      id: 'candle',
      header: 'Candle Time (Server TZ)',
      cell: ({ row }) => formatInstant(row.original.candleTimeServer),
    },
    {
      id: 'received',
      header: 'Received At (Server TZ)',
      cell: ({ row }) => formatInstant(row.original.receivedAt),
    },
    { id: 'source', header: 'Source', cell: ({ row }) => row.original.sourceIp },
    {
      id: 'hash',
      header: 'Hash Value',
      cell: ({ row: { original: log } }) => (
        <span className="mono" data-tip={log.hashValue}>
          {log.hashValue.slice(0, HASH_LENGTH)}…
        </span>
      ),
    },
    {
      id: 'parameters',
      header: 'Parameters',
      cell: ({ row: { original: log } }) =>
        Object.keys(log.parameters).length > 0 ? (
          <CellButton text="View" opens={`parameters of ${shortId(log.id, 9)}`} onClick={() => onView(log)} />
        ) : (
          'No parameters available'
        ),
    },
  ];
}
