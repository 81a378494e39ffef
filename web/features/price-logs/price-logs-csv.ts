import type { PriceLog } from '#contract/price-logs.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import type { CsvFormat } from '#web/lists/list-screen.tsx';
import { formatInstant } from '../../lib/format.ts';

/** The table's columns plus the filtered fields, with full prices, ids and hashes. */
export const priceLogsCsv = (timeZone: string): CsvFormat<PriceLog> => ({
  receivedAt: ({ receivedAt }) => receivedAt,
  columns: [
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
  ],
});
