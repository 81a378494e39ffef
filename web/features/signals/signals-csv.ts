import type { Signal } from '#contract/signals.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { outcomeText } from '#domain/workflow/workflow-outcome.ts';
import type { CsvFormat } from '#web/lists/list-screen.tsx';
import { capitalise, formatInstant } from '../../lib/format.ts';
import { formatOriginalTime } from '../../lib/original-time.ts';
import { orderCounts, successRate } from './signals-columns.tsx';

/** The table's columns plus the other fields of the signal dialog, with full prices. */
export const signalsCsv = (timeZone: string): CsvFormat<Signal> => ({
  receivedAt: ({ receivedAt }) => receivedAt,
  columns: [
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
    { header: 'Outcome', cell: ({ outcome }) => outcome && outcomeText(outcome) },
    { header: 'Outcome Reason', cell: ({ outcome }) => outcome?.topReason ?? null },
    { header: 'Status', cell: ({ workflowStatus }) => workflowStatus && capitalise(workflowStatus) },
    { header: 'Workflow Error', cell: ({ workflowError }) => workflowError },
    { header: 'Success', cell: successRate },
    { header: 'Successful Trades', cell: (signal) => orderCounts(signal).successful },
    { header: 'Total Trades', cell: (signal) => orderCounts(signal).total },
    { header: 'Successful Users', cell: ({ successfulUsersCount }) => successfulUsersCount },
    { header: 'Eligible Users', cell: ({ eligibleUsersCount }) => eligibleUsersCount },
    { header: 'Hash Value', cell: ({ hashValue }) => hashValue },
    { header: 'Parameters', cell: ({ parameters }) => JSON.stringify(parameters) },
  ],
});
