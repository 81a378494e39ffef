import { IconCalculator, IconPlayerPlay } from '@tabler/icons-react';
import { useRouter } from '@tanstack/react-router';
import type { MouseEvent } from 'react';
import type { Signal } from '#contract/signals.ts';
import { workflowTooltip } from '#domain/workflow/workflow-lifecycle.ts';
import type { TableColumns } from '#web/lists/data-table.tsx';
import { capitalise, formatDecimals, formatPrice, plainCount, shortId } from '../../lib/format.ts';
import { CellButton } from '../../ui/cell-button.tsx';
import { CutText } from '../../ui/cut-text.tsx';
import { ActionBadge, StatusBadge, TimeframeBadge, TokenBadge } from '../../ui/trading-badges.tsx';
import { TriggerButton } from '../../ui/trigger-button.tsx';
import classes from './signals-columns.module.css';
import type { SignalDialogName } from './signals-search.ts';

interface ColumnOptions {
  formatInstant: (instant: string | null) => string;
  triggersDisabled: boolean;
  /** The signal with a workflow being triggered. */
  pendingSignalId: string | undefined;
  onOpen: (dialog: SignalDialogName, signal: Signal) => void;
  onTrigger: (signalId: string) => void;
}

const name = (signal: Signal) => shortId(signal.id, 9);

/** Null without trades. */
export function successRate({ successfulTrades, totalTrades }: Signal): string | null {
  const percent = Math.round((successfulTrades / totalTrades) * 100);
  return Number.isFinite(percent) ? `${percent}%` : null;
}

/** All digits as a tooltip, because four decimals hide those of small prices. */
function fullLevels({ stopLoss, takeProfit }: Signal): { tip?: string } {
  if (stopLoss === null && takeProfit === null) return {};
  return { tip: `Stop loss ${stopLoss ?? '–'}\nTake profit ${takeProfit ?? '–'}` };
}

export function signalsColumns(options: ColumnOptions): TableColumns<Signal> {
  const { formatInstant, triggersDisabled, pendingSignalId, onOpen, onTrigger } = options;
  return [
    {
      id: 'id',
      header: 'ID',
      cell: (signal) => (
        <CellButton
          text={name(signal)}
          opens="details of the signal"
          tip={signal.id}
          onClick={() => onOpen('signal', signal)}
        />
      ),
    },
    { id: 'token', header: 'Token', cell: (signal) => <TokenBadge token={signal.token} /> },
    { id: 'position', header: 'Position', cell: (signal) => <ActionBadge action={signal.action} /> },
    {
      id: 'price',
      header: 'Price',
      align: 'right',
      cell: (signal) => (
        <span data-tip={`${signal.price} ${signal.currency}`}>{formatPrice(signal.price)}</span>
      ),
    },
    {
      id: 'sltp',
      header: 'SL/TP',
      align: 'right',
      cell: (signal) => (
        <CellButton
          text={`${formatDecimals(signal.stopLoss, 4)} / ${formatDecimals(signal.takeProfit, 4)}`}
          opens={`SL/TP calculation of signal ${name(signal)}`}
          {...fullLevels(signal)}
          onClick={() => onOpen('sltp', signal)}
        />
      ),
    },
    {
      id: 'timeframe',
      header: 'Timeframe',
      cell: (signal) => <TimeframeBadge timeframe={signal.timeframe} />,
    },
    { id: 'received', header: 'Receive Time', cell: (signal) => formatInstant(signal.receivedAt) },
    {
      id: 'processor',
      header: 'Processor',
      cell: (signal) => <CutText maxWidth={100}>{signal.processor}</CutText>,
    },
    {
      id: 'triggers',
      header: 'Triggers',
      align: 'right',
      cell: (signal) => (
        <CellButton
          text={`${plainCount(signal.automaticCount)} , ${plainCount(signal.manualCount)}`}
          opens={`workflows of signal ${name(signal)}`}
          tip={`${plainCount(signal.automaticCount)} automatic, ${plainCount(signal.manualCount)} manual`}
          onClick={() => onOpen('workflows', signal)}
        />
      ),
    },
    {
      id: 'status',
      header: 'Status',
      cell: (signal) =>
        signal.workflowId && signal.workflowStatus ? (
          <CellButton
            text={capitalise(signal.workflowStatus)}
            opens={`workflow execution of signal ${name(signal)}`}
            tip={workflowTooltip({
              status: signal.workflowStatus,
              successfulUsers: signal.successfulUsersCount,
              eligibleUsers: signal.eligibleUsersCount,
              errorMessage: signal.workflowError,
            })}
            onClick={() => onOpen('steps', signal)}
          >
            <StatusBadge status={signal.workflowStatus} />
          </CellButton>
        ) : (
          '–'
        ),
    },
    { id: 'success', header: 'Success', align: 'right', cell: (signal) => successRate(signal) ?? '–' },
    {
      id: 'trades',
      header: 'Trades',
      align: 'right',
      cell: (signal) => (
        <CellButton
          text={`${plainCount(signal.successfulTrades)}/${plainCount(signal.totalTrades)}`}
          opens={`trades of signal ${name(signal)}`}
          onClick={() => onOpen('trades', signal)}
        />
      ),
    },
    {
      id: 'users',
      header: 'Users',
      align: 'right',
      cell: (signal) => (
        <CellButton
          text={`${plainCount(signal.successfulUsersCount)}/${plainCount(signal.eligibleUsersCount)}`}
          opens={`users of signal ${name(signal)}`}
          onClick={() => onOpen('users', signal)}
        />
      ),
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
            pending={pendingSignalId === signal.id}
            onTrigger={() => onTrigger(signal.id)}
          >
            Trigger
          </TriggerButton>
          <CalculatorLink signalId={signal.id} />
        </span>
      ),
    },
  ];
}

/** A plain anchor, because a hundred router links render noticeably slower. */
function CalculatorLink({ signalId }: { signalId: string }) {
  const router = useRouter();
  const href = `/position-calculator?signalId=${encodeURIComponent(signalId)}`;
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    void router.navigate({ href });
  };
  return (
    <a
      className={classes.calculator}
      href={href}
      onClick={follow}
      aria-label={`Calculator for signal ${shortId(signalId, 9)}`}
      data-tip="Position Calculator"
    >
      <IconCalculator size={16} aria-hidden />
    </a>
  );
}
