import type { Signal, SignalsAnswer } from '#contract/signals.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { requestJson } from '../../lib/api-client.ts';
import type { CsvColumn, ExportSource } from '../../lib/csv-export.ts';
import { capitalise, formatInstant } from '../../lib/format.ts';
import { formatOriginalTime } from '../../lib/original-time.ts';
import { signalsPath } from './get-signals.ts';
import { successRate } from './signals-columns.tsx';
import type { SignalsSearch } from './signals-search.ts';

/** What the table shows and what the signal's dialog shows beyond it; prices in full. */
export const signalsCsvColumns = (timeZone: string): CsvColumn<Signal>[] => [
  { header: 'ID', cell: ({ id }) => id },
  { header: 'Token', cell: ({ token }) => token },
  { header: 'Position', cell: ({ action }) => capitalise(action) },
  { header: 'Price', cell: ({ price }) => price },
  { header: 'Currency', cell: ({ currency }) => currency },
  { header: 'Stop Loss', cell: ({ stopLoss }) => stopLoss },
  { header: 'Take Profit', cell: ({ takeProfit }) => takeProfit },
  { header: 'Timeframe', cell: ({ timeframe }) => displayTimeframe(timeframe) },
  {
    header: 'Original Time',
    cell: ({ signalTimeTradingview }) => formatOriginalTime(signalTimeTradingview, timeZone),
  },
  { header: 'Candle Time', cell: ({ signalTimeServer }) => formatInstant(signalTimeServer, timeZone) },
  { header: 'Receive Time', cell: ({ receivedAt }) => formatInstant(receivedAt, timeZone) },
  { header: 'Processor', cell: ({ processor }) => processor },
  { header: 'Automatic Triggers', cell: ({ automaticCount }) => automaticCount },
  { header: 'Manual Triggers', cell: ({ manualCount }) => manualCount },
  { header: 'Workflow ID', cell: ({ workflowId }) => workflowId },
  { header: 'Status', cell: ({ workflowStatus }) => workflowStatus && capitalise(workflowStatus) },
  { header: 'Workflow Error', cell: ({ workflowError }) => workflowError },
  {
    header: 'Success',
    cell: successRate,
  },
  { header: 'Successful Trades', cell: ({ successfulTrades }) => successfulTrades },
  { header: 'Total Trades', cell: ({ totalTrades }) => totalTrades },
  { header: 'Successful Users', cell: ({ successfulUsersCount }) => successfulUsersCount },
  { header: 'Eligible Users', cell: ({ eligibleUsersCount }) => eligibleUsersCount },
  { header: 'Hash Value', cell: ({ hashValue }) => hashValue },
  { header: 'Parameters', cell: ({ parameters }) => JSON.stringify(parameters) },
];

/** All signals that the filters match, whatever page is shown. */
export function signalsExport(search: SignalsSearch, timeZone: string): ExportSource<Signal> {
  const { token, action, processor, timeframe } = search;
  return {
    columns: signalsCsvColumns(timeZone),
    fetchPage: async ({ signal, ...paging }) => {
      const params = { ...paging, token, action, processor, timeframe };
      const { signals, total } = await requestJson<SignalsAnswer>(signalsPath, { params, signal });
      return { rows: signals, total };
    },
    rowId: ({ id }) => id,
    receivedAt: ({ receivedAt }) => receivedAt,
  };
}
