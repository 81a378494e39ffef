import type { ClosedTradesAnswer, ClosedTradeView } from '#contract/performance.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { requestJson } from '../../lib/api-client.ts';
import type { ExportSource } from '../../lib/csv-export.ts';
import { capitalise, formatInstant } from '../../lib/format.ts';
import type { ResultQuery } from './performance-range.ts';

/** All closed trades of the range, newest first, with exact figures. Unknown ones are empty. */
export const closedTradesCsv = (query: ResultQuery, timeZone: string): ExportSource<ClosedTradeView> => ({
  rowId: ({ id }) => id,
  receivedAt: ({ closedAt }) => closedAt,
  async fetchPage({ page, limit, until, signal }) {
    // `to` is excluded, `until` is included.
    const to = until === undefined ? query.to : new Date(Date.parse(until) + 1).toISOString();
    const given = Object.entries({ ...query, to, page, limit }).filter(([, value]) => value !== undefined);
    const parameters = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
    const { trades, totalCount } = await requestJson<ClosedTradesAnswer>(
      `/api/performance/trades?${parameters}`,
      { signal },
    );
    return { rows: trades, total: totalCount };
  },
  columns: [
    { header: 'Closed', cell: ({ closedAt }) => formatInstant(closedAt, timeZone) },
    { header: 'Opened', cell: ({ openedAt }) => formatInstant(openedAt, timeZone) },
    { header: 'User', cell: ({ username }) => username },
    { header: 'Strategy', cell: ({ processor }) => processor },
    { header: 'Token', cell: ({ token }) => token },
    { header: 'Timeframe', cell: ({ timeframe }) => displayTimeframe(timeframe) },
    { header: 'Sizing', cell: ({ sizingMethod }) => sizingMethod },
    { header: 'Side', cell: ({ side }) => capitalise(side) },
    { header: 'Net', cell: ({ net }) => net },
    { header: 'Gross', cell: ({ gross }) => gross },
    { header: 'Fees', cell: ({ fees }) => fees },
    { header: 'Funding', cell: ({ funding }) => funding },
    { header: 'R', cell: ({ r }) => r },
    { header: 'Minutes held', cell: ({ holdingMinutes }) => holdingMinutes },
    { header: 'Slippage from signal, bps', cell: ({ slippageSignal }) => slippageSignal },
    { header: 'Slippage from entry, bps', cell: ({ slippageEntry }) => slippageEntry },
    { header: 'Trade ID', cell: ({ tradeId }) => tradeId },
  ],
});
