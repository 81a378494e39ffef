import { IconRotateClockwise } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import type { WorkflowRun } from '#contract/automation.ts';
import { canRetryWorkflow, failureReasonLabel, failureTooltip } from '#domain/workflow/workflow-lifecycle.ts';
import { Ago } from '#web/lists/ago.tsx';
import type { TableColumns } from '#web/lists/data-table.tsx';
import { TwoLines } from '#web/lists/two-lines.tsx';
import { capitalise, durationBetween, formatDuration, plainCount, shortId } from '../../lib/format.ts';
import { CellButton } from '../../ui/cell-button.tsx';
import { CutText } from '../../ui/cut-text.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';
import { TriggerButton } from '../../ui/trigger-button.tsx';
import { useReadableInstants } from '../../ui/use-readable-instants.ts';
import { OutcomeBadge, WorkflowStatus } from '../../ui/workflow-outcome.tsx';
import classes from './automation.module.css';

interface ColumnOptions {
  retryDisabled: boolean;
  pendingSignalId: string | undefined;
  onOpen: (dialog: 'signal' | 'users' | 'steps', workflow: WorkflowRun) => void;
  onRetry: (signalId: string) => void;
}

/** Shortened when longer than 8 characters. */
const short = (id: string) => shortId(id, 9);

/** Its trades, or the closes of a signal that leaves, which makes none. */
export const orderCounts = ({ action, successfulTrades, tradeCount, outcome }: WorkflowRun) =>
  action === 'close' || action === 'reduce'
    ? { successful: outcome.filled, total: outcome.filled + outcome.failed }
    : { successful: successfulTrades, total: tradeCount };

function tradesText(run: WorkflowRun): string {
  const { successful, total } = orderCounts(run);
  return `${plainCount(successful)}/${plainCount(total)}`;
}

type ButtonTexts = Pick<ComponentProps<typeof CellButton>, 'text' | 'opens' | 'tip'>;

export function automationColumns(options: ColumnOptions): TableColumns<WorkflowRun> {
  const { onOpen } = options;
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
    { id: 'signal', header: 'Signal ID', fold: 2, cell: (run) => (run.signalId ? signal(run) : 'N/A') },
    { id: 'token', header: 'Token', sort: 'token', cell: (run) => <TokenBadge token={run.token} /> },
    {
      id: 'processor',
      header: 'Processor',
      fold: 3,
      cell: (run) => <CutText maxWidth={100}>{run.processor}</CutText>,
    },
    {
      id: 'trigger',
      header: 'Trigger',
      fold: 2,
      cell: (run) => <span data-tip={run.triggerReason ?? undefined}>{capitalise(run.trigger)}</span>,
    },
    {
      id: 'status',
      header: 'Status',
      sort: 'outcome',
      cell: (run) => <WorkflowStatus status={run.status} outcome={run.outcome} words="below" />,
    },
    { id: 'created', header: 'Created', sort: 'time', cell: (run) => <Ago instant={run.createdAt} /> },
    { id: 'completed', header: 'Completed', fold: 1, cell: (run) => <Ago instant={run.completedAt} /> },
    {
      id: 'duration',
      header: 'Duration',
      align: 'right',
      cell: (run) => formatDuration(durationBetween(run.createdAt, run.completedAt)),
    },
    {
      id: 'steps',
      header: 'Steps',
      fold: 1,
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
      cell: tradesText,
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

/** Why the workflow did not trade, in short and in full; null where nothing says it. */
function reasonOf(run: WorkflowRun): [text: string, tip: string] | null {
  const { errorMessage: message, errorDetails: details, outcome } = run;
  const failure = { message, details };
  if (message || details) return [failureReasonLabel(failure) || 'Unknown', failureTooltip(failure)];
  return outcome.topReason ? [outcome.topReason, outcome.topReason] : null;
}

/** A workflow on a phone; it opens its steps. */
export const workflowCard = (onOpen: ColumnOptions['onOpen']) => (run: WorkflowRun) => (
  <TwoLines
    id={run.id}
    token={run.token}
    title={run.token}
    detail={`${capitalise(run.trigger)} ${short(run.workflowId)}`}
    opens="steps of the workflow"
    onOpen={() => onOpen('steps', run)}
    outcome={<OutcomeBadge status={run.status} outcome={run.outcome} />}
    below={
      <>
        {run.processor}, <Ago instant={run.createdAt} />,{' '}
        {formatDuration(durationBetween(run.createdAt, run.completedAt))}
      </>
    }
    reason={reasonOf(run)?.[0] ?? null}
  />
);

function FailureReason({ run }: { run: WorkflowRun }) {
  const readable = useReadableInstants();
  const reason = reasonOf(run);
  if (reason === null) return '–';
  const [text, tip] = reason.map(readable);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: its tooltip must be reachable by keyboard
    <span className={classes.reason} data-tip={tip} tabIndex={0}>
      {text}
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
