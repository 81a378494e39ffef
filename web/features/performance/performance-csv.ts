import type {
  ClosedTradesAnswer,
  ClosedTradeView,
  PerformanceAnswer,
  ResultGroup,
} from '#contract/performance.ts';
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

/** The figures of each group, exact. What a group does not have is empty. */
export const breakdownCsv = (
  query: ResultQuery & { groupBy: ResultGroup },
): ExportSource<PerformanceAnswer['groups'][number] & { at: string }> => ({
  rowId: ({ key }) => key,
  receivedAt: ({ at }) => at,
  // One answer has all groups; a thousand users are more than a page.
  async fetchPage({ page, limit, signal }) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const parameters = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
    const { groups, at } = await requestJson<PerformanceAnswer>(`/api/performance?${parameters}`, { signal });
    const rows = groups.slice((page - 1) * limit, page * limit).map((group) => ({ ...group, at }));
    return { rows, total: groups.length };
  },
  columns: [
    { header: 'Group', cell: ({ label }) => label },
    { header: 'Trades', cell: ({ trades }) => trades },
    { header: 'Wins', cell: ({ wins }) => wins },
    { header: 'Losses', cell: ({ losses }) => losses },
    { header: 'Win rate %', cell: ({ winRate }) => winRate },
    { header: 'Orders', cell: ({ orders }) => orders },
    { header: 'Filled', cell: ({ filled }) => filled },
    { header: 'Fill rate %', cell: ({ fillRate }) => fillRate },
    { header: 'Net', cell: ({ net }) => net },
    { header: 'Gross', cell: ({ gross }) => gross },
    { header: 'Fees', cell: ({ fees }) => fees },
    { header: 'Funding', cell: ({ funding }) => funding },
    { header: 'Profit factor', cell: ({ profitFactor }) => profitFactor },
    { header: 'Expectancy R', cell: ({ expectancyR }) => expectancyR },
    { header: 'Average R', cell: ({ averageR }) => averageR },
    { header: 'Best', cell: ({ best }) => best },
    { header: 'Worst', cell: ({ worst }) => worst },
    { header: 'Max drawdown', cell: ({ maxDrawdown }) => maxDrawdown },
    { header: 'Average minutes held', cell: ({ averageHoldingMinutes }) => averageHoldingMinutes },
    { header: 'Slippage from signal median bps', cell: ({ slippageBps }) => slippageBps.signal.median },
    { header: 'Slippage from signal p95 bps', cell: ({ slippageBps }) => slippageBps.signal.p95 },
    { header: 'Slippage from entry median bps', cell: ({ slippageBps }) => slippageBps.entry.median },
    { header: 'Slippage from entry p95 bps', cell: ({ slippageBps }) => slippageBps.entry.p95 },
  ],
});
