import type { ClosedPositionsAnswer, ClosedPositionView } from '#contract/positions.ts';
import { requestJson } from '../../lib/api-client.ts';
import type { ExportSource } from '../../lib/csv-export.ts';
import { capitalise, formatInstant } from '../../lib/format.ts';
import { netProfit } from './net-profit.ts';
import { positionsPath } from './positions-data.ts';

/** All closed positions of the filters, the newest first, with full figures. */
export const closedPositionsCsv = (
  { userId, token }: { userId: string | undefined; token: string | undefined },
  timeZone: string,
): ExportSource<ClosedPositionView> => ({
  async fetchPage({ page, limit, until, signal }) {
    const { closed, total } = await requestJson<ClosedPositionsAnswer>(`${positionsPath}/closed`, {
      params: { userId, token, page, limit, until },
      signal,
    });
    return { rows: closed, total };
  },
  rowId: ({ tradeId, closedAt }) => `${tradeId} ${closedAt}`,
  receivedAt: ({ closedAt }) => closedAt,
  columns: [
    { header: 'Token', cell: ({ token: name }) => name },
    { header: 'Side', cell: ({ side }) => capitalise(side) },
    { header: 'User', cell: ({ username }) => username },
    { header: 'Exchange', cell: ({ exchangePlatform }) => exchangePlatform },
    { header: 'Size', cell: ({ quantity }) => quantity },
    { header: 'Entry', cell: ({ entryPrice }) => entryPrice },
    { header: 'Close', cell: ({ closePrice }) => closePrice },
    { header: 'Stop Loss', cell: ({ stopLoss }) => stopLoss },
    { header: 'Take Profit', cell: ({ takeProfit }) => takeProfit },
    { header: 'Net Profit', cell: ({ realisedProfit, fees }) => netProfit(realisedProfit, fees) },
    { header: 'Gross Profit', cell: ({ realisedProfit }) => realisedProfit },
    { header: 'Fees', cell: ({ fees }) => fees },
    { header: 'Closed By', cell: ({ closedBy }) => capitalise(closedBy) },
    { header: 'Opened', cell: ({ openedAt }) => formatInstant(openedAt, timeZone) },
    { header: 'Closed', cell: ({ closedAt }) => formatInstant(closedAt, timeZone) },
    { header: 'Trade ID', cell: ({ tradeId }) => tradeId },
    { header: 'Differences', cell: ({ differences }) => differences.join('; ') },
  ],
});
