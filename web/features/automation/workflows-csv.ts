import type { WorkflowRun } from '#contract/automation.ts';
import { outcomeText } from '#domain/workflow/workflow-outcome.ts';
import type { CsvFormat } from '#web/lists/list-screen.tsx';
import { capitalise, durationBetween, formatInstant } from '../../lib/format.ts';
import { orderCounts } from './automation-columns.tsx';

/** The table's columns with full ids and messages. */
export const workflowsCsv = (timeZone: string): CsvFormat<WorkflowRun> => ({
  receivedAt: ({ createdAt }) => createdAt,
  columns: [
    { header: 'Workflow ID', cell: ({ workflowId }) => workflowId },
    { header: 'Signal ID', cell: ({ signalId }) => signalId },
    { header: 'Token', cell: ({ token }) => token },
    { header: 'Processor', cell: ({ processor }) => processor },
    { header: 'Trigger', cell: ({ trigger }) => capitalise(trigger) },
    { header: 'Trigger Reason', cell: ({ triggerReason }) => triggerReason },
    { header: 'Status', cell: ({ status }) => capitalise(status) },
    { header: 'Outcome', cell: ({ outcome }) => outcomeText(outcome) },
    { header: 'Outcome Reason', cell: ({ outcome }) => outcome.topReason },
    { header: 'Created', cell: ({ createdAt }) => formatInstant(createdAt, timeZone) },
    { header: 'Completed', cell: ({ completedAt }) => completedAt && formatInstant(completedAt, timeZone) },
    {
      header: 'Duration (ms)',
      cell: ({ createdAt, completedAt }) => durationBetween(createdAt, completedAt),
    },
    { header: 'Steps', cell: ({ stepCount }) => stepCount },
    { header: 'Successful Trades', cell: (run) => orderCounts(run).successful },
    { header: 'Total Trades', cell: (run) => orderCounts(run).total },
    { header: 'Eligible Users', cell: ({ eligibleUsersCount }) => eligibleUsersCount },
    { header: 'Error', cell: ({ errorMessage }) => errorMessage },
  ],
});
