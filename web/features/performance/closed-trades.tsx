import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ClosedTradesAnswer, ClosedTradeView } from '#contract/performance.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { CardLines } from '#web/lists/card-lines.tsx';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { Pager } from '#web/lists/pager.tsx';
import { formatMoney, formatProfit } from '../../lib/figures.ts';
import { countPages, formatCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { CutText } from '../../ui/cut-text.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Profit } from '../../ui/profit.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { SideBadge, TokenBadge } from '../../ui/trading-badges.tsx';
import classes from './performance.module.css';
import { formatHolding, formatR } from './performance-format.ts';
import type { ResultQuery } from './performance-range.ts';
import type { PerformanceSearch } from './performance-search.ts';

const PAGE_SIZE = 20;

export interface ClosedTradesProps {
  search: PerformanceSearch;
  query: ResultQuery;
  onSearch: (change: PerformanceSearch) => void;
}

type Sort = 'time' | 'net' | 'r';

export default function ClosedTrades({ search, query, onSearch }: ClosedTradesProps) {
  const formatInstant = useFormatInstant();
  const { sort = 'time', order = 'desc', page = 1 } = search;
  const trades = useQuery<ClosedTradesAnswer>({
    queryKey: ['/api/performance/trades', { ...query, sort, order, page, limit: PAGE_SIZE }],
    placeholderData: keepPreviousData,
  });
  const sortable = (
    header: string,
    by: Sort,
  ): Pick<CardColumn<ClosedTradeView>, 'header' | 'head' | 'sorted'> => {
    const isSorted = sort === by;
    const next = isSorted && order === 'desc' ? ('asc' as const) : undefined;
    return {
      header,
      sorted: !isSorted ? 'none' : order === 'asc' ? 'ascending' : 'descending',
      head: (
        <button
          type="button"
          className={classes.toggle}
          onClick={() => onSearch({ sort: by === 'time' ? undefined : by, order: next, page: undefined })}
        >
          {header} <span aria-hidden>{isSorted ? (order === 'asc' ? '↑' : '↓') : ''}</span>
        </button>
      ),
    };
  };
  const columns: CardColumn<ClosedTradeView>[] = [
    { ...sortable('Closed', 'time'), cell: ({ closedAt }) => formatInstant(closedAt) },
    { header: 'User', place: 'title', cell: ({ username }) => username },
    { header: 'Token', cell: ({ token }) => <TokenBadge token={token} /> },
    { header: 'Side', cell: ({ side }) => <SideBadge side={side} /> },
    {
      header: 'Strategy',
      cell: ({ processor, timeframe }) => (
        <CutText maxWidth={130}>{`${processor}, ${displayTimeframe(timeframe)}`}</CutText>
      ),
    },
    {
      ...sortable('Net', 'net'),
      align: 'right',
      cell: ({ net }) => (net === null ? 'unknown' : <Profit amount={net} />),
    },
    {
      header: 'Gross',
      isSpare: true,
      align: 'right',
      cell: ({ gross }) => (gross === null ? 'unknown' : formatProfit(gross)),
    },
    { header: 'Costs', align: 'right', isSpare: true, cell: costsOf },
    { ...sortable('R', 'r'), align: 'right', cell: ({ r }) => formatR(r) },
    { header: 'Held', align: 'right', cell: ({ holdingMinutes }) => formatHolding(holdingMinutes) },
    {
      header: 'Slippage, bps',
      align: 'right',
      cell: ({ slippageSignal }) => (slippageSignal === null ? '–' : Number(slippageSignal).toFixed(1)),
    },
    {
      header: 'Trade',
      place: 'card',
      cell: (trade) => (
        <CardLines
          lines={[
            [
              <>
                {trade.side === 'long' ? '▲' : '▼'} <strong>{trade.token}</strong> · {trade.username}
              </>,
              trade.net === null ? 'unknown' : <Profit key="net" amount={trade.net} />,
            ],
            [
              `${trade.processor}, ${displayTimeframe(trade.timeframe)}, held ${formatHolding(trade.holdingMinutes)}`,
              formatR(trade.r),
            ],
            [formatInstant(trade.closedAt), `costs ${costsOf(trade)}`],
          ]}
        />
      ),
    },
  ];
  return (
    <Panel
      flush
      title="Closed trades"
      description={trades.data ? `${formatCount(trades.data.totalCount)} in the range` : undefined}
    >
      <QueryView query={trades} errorTitle="Failed to fetch closed trades">
        {({ trades: rows, totalCount }) => (
          <div className={classes.closed}>
            <CardTable
              label="Closed trades"
              columns={columns}
              rows={rows}
              rowId={({ id }) => id}
              emptyText="No closed trades on this page"
              minWidth={820}
              faded={trades.isPlaceholderData}
            />
            <Pager
              page={page}
              pageCount={countPages(totalCount, PAGE_SIZE)}
              onPage={(to) => onSearch({ page: to === 1 ? undefined : to })}
            />
          </div>
        )}
      </QueryView>
    </Panel>
  );
}

function costsOf({ fees, funding }: ClosedTradeView): string {
  if (fees === null) return 'unknown';
  return formatMoney(String(Number(fees) - Number(funding ?? '0')));
}
