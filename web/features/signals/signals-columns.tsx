import { IconCalculator, IconPlayerPlay } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import type { Signal } from '#contract/signals.ts';
import { workflowTooltip } from '#domain/workflow/workflow-lifecycle.ts';
import type { WorkflowOutcome } from '#domain/workflow/workflow-outcome.ts';
import { Ago } from '#web/lists/ago.tsx';
import type { TableColumns } from '#web/lists/data-table.tsx';
import { formatReceivedPrice } from '../../lib/figures.ts';
import { formatDecimals, plainCount, shortId } from '../../lib/format.ts';
import { CellButton } from '../../ui/cell-button.tsx';
import { CutText } from '../../ui/cut-text.tsx';
import { SideBadge, TimeframeBadge, TokenBadge } from '../../ui/trading-badges.tsx';
import { TriggerButton } from '../../ui/trigger-button.tsx';
import { useAnchor } from '../../ui/use-anchor.ts';
import { StatusWithReason, statusAndOutcome, WorkflowStatus } from '../../ui/workflow-outcome.tsx';
import classes from './signals-columns.module.css';
import type { SignalDialogName } from './signals-search.ts';

interface ColumnOptions {
  triggersDisabled: boolean;
  onOpen: (dialog: SignalDialogName, signal: Signal) => void;
  onPanel: (signal: Signal) => void;
  onTrigger: (signal: Signal) => void;
}

const name = ({ id }: Pick<Signal, 'id'>) => shortId(id, 9);

const isExit = ({ action }: Signal): boolean => action === 'close' || action === 'reduce';

/** Trades, or for a signal that leaves, which makes none, the closes of its workflow. */
export function orderCounts(signal: Signal): { successful: number; total: number } {
  const { successfulTrades, totalTrades, outcome } = signal;
  if (!isExit(signal)) return { successful: successfulTrades, total: totalTrades };
  const { filled, failed } = outcome ?? { filled: 0, failed: 0 };
  return { successful: filled, total: filled + failed };
}

/** Null without orders, and while the workflow runs: what it has so far is no rate. */
export function successRate(signal: Signal): string | null {
  if (signal.outcome?.kind === 'running') return null;
  const { successful, total } = orderCounts(signal);
  const percent = Math.round((successful / total) * 100);
  return Number.isFinite(percent) ? `${percent}%` : null;
}

/** Which of several workflows the row shows; null when there is only one. */
const runOf = ({ automaticCount, manualCount, workflowTrigger, workflowId }: Signal): string | null =>
  automaticCount + manualCount > 1 && workflowTrigger !== null && workflowId !== null
    ? `Of the ${workflowTrigger} workflow ${shortId(workflowId, 9)}`
    : null;

/** A tooltip of these lines; none without any. */
const tipOf = (...lines: (string | null)[]): { tip?: string } => {
  const tip = lines.filter((line) => line !== null).join('\n');
  return tip === '' ? {} : { tip };
};

/** Four decimals, more where they would cut off digits of the tick. */
const level = (price: string | null): string =>
  formatDecimals(price, Math.max(4, (price?.split('.')[1] ?? '').replace(/0+$/, '').length));

/** All digits as a tooltip, because four decimals hide those of small prices. */
function fullLevels(signal: Signal): { tip?: string } {
  const { stopLoss, takeProfit } = signal;
  if (stopLoss === null && takeProfit === null) return {};
  return tipOf(`Stop loss ${stopLoss ?? '–'}`, `Take profit ${takeProfit ?? '–'}`, runOf(signal));
}

type ButtonTexts = Pick<ComponentProps<typeof CellButton>, 'text' | 'opens' | 'tip' | 'children'>;

const ratio = (part: number, whole: number) => `${plainCount(part)}/${plainCount(whole)}`;

export function signalsColumns(options: ColumnOptions): TableColumns<Signal> {
  const { triggersDisabled, onOpen, onPanel, onTrigger } = options;
  const opening =
    (dialog: SignalDialogName, textsOf: (signal: Signal) => ButtonTexts) => (signal: Signal) => (
      <CellButton {...textsOf(signal)} onClick={() => onOpen(dialog, signal)} />
    );
  const countsText = (signal: Signal) => {
    const { successful, total } = orderCounts(signal);
    return ratio(successful, total);
  };
  const trades = opening('trades', (signal) => ({
    text: countsText(signal),
    opens: `trades of signal ${name(signal)}`,
    ...tipOf(runOf(signal) && 'Of all its workflows and orders by hand'),
  }));
  // What was closed, and for whom, stands with the users.
  const closes = opening('users', (signal) => ({
    text: countsText(signal),
    opens: `closes of signal ${name(signal)}`,
    ...tipOf('Positions that it closed or reduced', runOf(signal)),
  }));
  const status = (signal: Signal, { status, outcome }: { status: string; outcome: WorkflowOutcome }) => (
    <StatusWithReason outcome={outcome} maxWidth={170}>
      <CellButton
        text={statusAndOutcome(status, outcome)}
        opens={`workflow execution of signal ${name(signal)}`}
        tip={workflowTooltip({
          status,
          successfulUsers: signal.successfulUsersCount,
          eligibleUsers: signal.eligibleUsersCount,
          errorMessage: signal.workflowError,
        })}
        onClick={() => onOpen('steps', signal)}
      >
        <WorkflowStatus status={status} outcome={outcome} />
      </CellButton>
    </StatusWithReason>
  );
  return [
    {
      id: 'id',
      header: 'ID',
      fold: 1,
      cell: opening('signal', (signal) => ({
        text: name(signal),
        opens: 'details of the signal',
        tip: signal.id,
      })),
    },
    {
      id: 'token',
      header: 'Token',
      sort: 'token',
      cell: (signal) => (
        <CellButton
          text={signal.token}
          opens={`panel of signal ${name(signal)}`}
          row={signal.id}
          onClick={() => onPanel(signal)}
        >
          <TokenBadge token={signal.token} />
        </CellButton>
      ),
    },
    { id: 'position', header: 'Position', cell: (signal) => <SideBadge side={signal.action} /> },
    {
      id: 'price',
      header: 'Price',
      align: 'right',
      cell: ({ price, currency }) => (
        <span data-tip={`${price} ${currency}`}>{formatReceivedPrice(price)}</span>
      ),
    },
    {
      id: 'sltp',
      header: 'SL/TP',
      fold: 2,
      align: 'right',
      cell: opening('sltp', (signal) => {
        const [stop, target] = [level(signal.stopLoss), level(signal.takeProfit)];
        return {
          text: `${stop} / ${target}`,
          opens: `SL/TP calculation of signal ${name(signal)}`,
          ...fullLevels(signal),
          children: <Levels stop={stop} target={target} />,
        };
      }),
    },
    {
      id: 'timeframe',
      header: 'Timeframe',
      fold: 2,
      cell: (signal) => <TimeframeBadge timeframe={signal.timeframe} />,
    },
    {
      id: 'received',
      header: 'Receive Time',
      sort: 'time',
      cell: (signal) => <Ago instant={signal.receivedAt} />,
    },
    {
      id: 'processor',
      header: 'Processor',
      fold: 3,
      cell: (signal) => <CutText maxWidth={100}>{signal.processor}</CutText>,
    },
    {
      id: 'triggers',
      header: 'Triggers',
      fold: 2,
      align: 'right',
      cell: opening('workflows', ({ automaticCount, manualCount, ...signal }) => ({
        text: `${plainCount(automaticCount)} , ${plainCount(manualCount)}`,
        opens: `workflows of signal ${name(signal)}`,
        tip: `${plainCount(automaticCount)} automatic, ${plainCount(manualCount)} manual`,
      })),
    },
    {
      id: 'status',
      header: 'Status',
      sort: 'outcome',
      cell: (signal) => {
        const { workflowId, workflowStatus, outcome } = signal;
        return workflowId && workflowStatus && outcome
          ? status(signal, { status: workflowStatus, outcome })
          : '–';
      },
    },
    {
      id: 'success',
      header: 'Success',
      fold: 2,
      align: 'right',
      cell: (signal) => successRate(signal) ?? '–',
    },
    {
      id: 'trades',
      header: 'Trades',
      align: 'right',
      cell: (signal) => (isExit(signal) ? closes(signal) : trades(signal)),
    },
    {
      id: 'users',
      header: 'Users',
      align: 'right',
      cell: opening('users', (signal) => ({
        text: ratio(signal.successfulUsersCount, signal.eligibleUsersCount),
        opens: `users of signal ${name(signal)}`,
        ...tipOf(runOf(signal)),
      })),
    },
    {
      id: 'actions',
      header: 'Actions',
      pinned: true,
      cell: (signal) => (
        <span className={classes.actions}>
          <TriggerButton
            icon={<IconPlayerPlay size={13} aria-hidden />}
            label={`Trigger the workflow of signal ${name(signal)}`}
            triggersDisabled={triggersDisabled}
            onTrigger={() => onTrigger(signal)}
          >
            Trigger
          </TriggerButton>
          <CalculatorLink signalId={signal.id} />
        </span>
      ),
    },
  ];
}

/** One above the other where the table is narrow. */
const Levels = ({ stop, target }: { stop: string; target: string }) => (
  <span className={classes.levels}>
    <span>{stop}</span>
    <span> / </span>
    <span>{target}</span>
  </span>
);

function CalculatorLink({ signalId }: { signalId: string }) {
  const { href, onClick } = useAnchor(`/position-calculator?signalId=${encodeURIComponent(signalId)}`);
  return (
    <a
      href={href}
      onClick={onClick}
      className={classes.calculator}
      aria-label={`Calculator for signal ${shortId(signalId, 9)}`}
      data-tip="Position Calculator"
    >
      <IconCalculator size={16} aria-hidden />
    </a>
  );
}
