import { IconRotateClockwise } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import type { WorkflowRun } from '#contract/automation.ts';
import { canRetryWorkflow, failureReasonLabel, failureTooltip } from '#domain/workflow/workflow-lifecycle.ts';
import type { TableColumns } from '#web/lists/data-table.tsx';
import { capitalise, durationBetween, formatDuration, plainCount, shortId } from '../../lib/format.ts';
import { CellButton } from '../../ui/cell-button.tsx';
import { CutText } from '../../ui/cut-text.tsx';
import { StatusBadge, TokenBadge } from '../../ui/trading-badges.tsx';
import { TriggerButton } from '../../ui/trigger-button.tsx';
import classes from './automation.module.css';

interface ColumnOptions {
  formatInstant: (instant: string | null) => string;
  retryDisabled: boolean;
  pendingSignalId: string | undefined;
  onOpen: (dialog: 'signal' | 'users' | 'steps', workflow: WorkflowRun) => void;
  onRetry: (signalId: string) => void;
}

/** Shortened when longer than 8 characters. */
const short = (id: string) => shortId(id, 9);

type ButtonTexts = Pick<ComponentProps<typeof CellButton>, 'text' | 'opens' | 'tip'>;

export function automationColumns(options: ColumnOptions): TableColumns<WorkflowRun> {
  const { formatInstant, onOpen } = options;
  const opening =
    (dialog: 'signal' | 'users' | 'steps', textsOf: (run: WorkflowRun) => ButtonTexts) =>
    (run: WorkflowRun) => <CellButton {...textsOf(run)} onClick={() => onOpen(dialog, run)} />;
  const signal = opening('signal', ({ signalId }) => ({
    text: short(signalId ?? ''),
    opens: 'details of the signal',
    tip: signalId ?? '',
  }));
  return [
    {
      id: 'workflow',
      header: 'Workflow ID',
      cell: opening('steps', ({ workflowId }) => ({
        text: short(workflowId),
        opens: 'steps of the workflow',
        tip: workflowId,
      })),
    },
    { id: 'signal', header: 'Signal ID', cell: (run) => (run.signalId ? signal(run) : 'N/A') },
    { id: 'token', header: 'Token', cell: (run) => <TokenBadge token={run.token} /> },
    {
      id: 'processor',
      header: 'Processor',
      cell: (run) => <CutText maxWidth={100}>{run.processor}</CutText>,
    },
    {
      id: 'trigger',
      header: 'Trigger',
      cell: (run) => <span data-tip={run.triggerReason ?? undefined}>{capitalise(run.trigger)}</span>,
    },
    { id: 'status', header: 'Status', cell: (run) => <StatusBadge status={run.status} /> },
    { id: 'created', header: 'Created', cell: (run) => formatInstant(run.createdAt) },
    { id: 'completed', header: 'Completed', cell: (run) => formatInstant(run.completedAt) },
    {
      id: 'duration',
      header: 'Duration',
      align: 'right',
      cell: (run) => formatDuration(durationBetween(run.createdAt, run.completedAt)),
    },
    {
      id: 'steps',
      header: 'Steps',
      align: 'right',
      cell: opening('steps', ({ stepCount, workflowId }) => ({
        text: plainCount(stepCount),
        opens: `steps of workflow ${short(workflowId)}`,
      })),
    },
    {
      id: 'trades',
      header: 'Trades',
      align: 'right',
      cell: (run) => `${plainCount(run.successfulTrades)}/${plainCount(run.tradeCount)}`,
    },
    {
      id: 'users',
      header: 'Eligible Users',
      align: 'right',
      cell: opening('users', ({ eligibleUsersCount, workflowId }) => ({
        text: plainCount(eligibleUsersCount),
        opens: `eligible users of workflow ${short(workflowId)}`,
      })),
    },
    { id: 'failure', header: 'Failure Reason', cell: (run) => <FailureReason run={run} /> },
    {
      id: 'actions',
      header: 'Actions',
      pinned: true,
      cell: (run) => <RetryButton run={run} {...options} />,
    },
  ];
}

function FailureReason({ run }: { run: WorkflowRun }) {
  if (!run.errorMessage && !run.errorDetails) return '–';
  const failure = { message: run.errorMessage, details: run.errorDetails };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: its tooltip must be reachable by keyboard
    <span className={classes.reason} data-tip={failureTooltip(failure)} tabIndex={0}>
      {failureReasonLabel(failure) || 'Unknown'}
    </span>
  );
}

function RetryButton({ run, retryDisabled, pendingSignalId, onRetry }: ColumnOptions & { run: WorkflowRun }) {
  if (!canRetryWorkflow(run)) return null;
  return (
    <TriggerButton
      icon={<IconRotateClockwise size={13} aria-hidden />}
      label={`Retry workflow ${short(run.workflowId)}`}
      triggersDisabled={retryDisabled}
      pending={pendingSignalId === run.signalId}
      onTrigger={() => run.signalId && onRetry(run.signalId)}
    >
      Retry
    </TriggerButton>
  );
}
