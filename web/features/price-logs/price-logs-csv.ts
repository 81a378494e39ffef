import type { PriceLog, PriceLogsAnswer } from '#contract/price-logs.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { requestJson } from '../../lib/api-client.ts';
import type { CsvColumn, ExportSource } from '../../lib/csv-export.ts';
import { formatInstant } from '../../lib/format.ts';
import { priceLogsPath } from './get-price-logs.ts';
import type { PriceLogsSearch } from './price-logs-search.ts';

/** The table's columns with prices, ids and hashes in full, and what can be filtered by. */
export const priceLogsCsvColumns = (timeZone: string): CsvColumn<PriceLog>[] => [
  { header: 'ID', cell: ({ id }) => id },
  { header: 'Token', cell: ({ token }) => token },
  { header: 'Timeframe', cell: ({ timeframe }) => displayTimeframe(timeframe) },
  { header: 'Price', cell: ({ price }) => price },
  { header: 'Currency', cell: ({ currency }) => currency },
  { header: 'Processor', cell: ({ processor }) => processor },
  {
    header: 'Original Time (TradingView)',
    cell: ({ candleTimeTradingview }) => candleTimeTradingview || 'N/A',
  },
  {
    header: 'Candle Time (Server TZ)',
    cell: ({ candleTimeServer }) => formatInstant(candleTimeServer, timeZone),
  },
  { header: 'Received At (Server TZ)', cell: ({ receivedAt }) => formatInstant(receivedAt, timeZone) },
  { header: 'Source', cell: ({ sourceIp }) => sourceIp },
  { header: 'Hash Value', cell: ({ hashValue }) => hashValue },
  { header: 'Parameters', cell: ({ parameters }) => JSON.stringify(parameters) },
];

/** All price logs that the filters match, whatever page is shown. */
export function priceLogsExport(search: PriceLogsSearch, timeZone: string): ExportSource<PriceLog> {
  const { token, timeframe, processor } = search;
  return {
    columns: priceLogsCsvColumns(timeZone),
    fetchPage: async ({ signal, ...paging }) => {
      const params = { ...paging, token, timeframe, processor };
      const { priceLogs, total } = await requestJson<PriceLogsAnswer>(priceLogsPath, { params, signal });
      return { rows: priceLogs, total };
    },
    rowId: ({ id }) => id,
    receivedAt: ({ receivedAt }) => receivedAt,
  };
}
