import { IconCalculator, IconPlayerPlay } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import type { Signal } from '#contract/signals.ts';
import { workflowTooltip } from '#domain/workflow/workflow-lifecycle.ts';
import type { TableColumns } from '#web/lists/data-table.tsx';
import { capitalise, formatDecimals, formatPrice, plainCount, shortId } from '../../lib/format.ts';
import { CellButton } from '../../ui/cell-button.tsx';
import { CutText } from '../../ui/cut-text.tsx';
import { ActionBadge, StatusBadge, TimeframeBadge, TokenBadge } from '../../ui/trading-badges.tsx';
import { TriggerButton } from '../../ui/trigger-button.tsx';
import { useAnchor } from '../../ui/use-anchor.ts';
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

const name = ({ id }: Pick<Signal, 'id'>) => shortId(id, 9);

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

type ButtonTexts = Pick<ComponentProps<typeof CellButton>, 'text' | 'opens' | 'tip' | 'children'>;

const ratio = (part: number, whole: number) => `${plainCount(part)}/${plainCount(whole)}`;

export function signalsColumns(options: ColumnOptions): TableColumns<Signal> {
  const { formatInstant, triggersDisabled, pendingSignalId, onOpen, onTrigger } = options;
  const opening =
    (dialog: SignalDialogName, textsOf: (signal: Signal) => ButtonTexts) => (signal: Signal) => (
      <CellButton {...textsOf(signal)} onClick={() => onOpen(dialog, signal)} />
    );
  const status = opening('steps', (signal) => ({
    text: capitalise(signal.workflowStatus ?? ''),
    opens: `workflow execution of signal ${name(signal)}`,
    tip: workflowTooltip({
      status: signal.workflowStatus ?? '',
      successfulUsers: signal.successfulUsersCount,
      eligibleUsers: signal.eligibleUsersCount,
      errorMessage: signal.workflowError,
    }),
    children: <StatusBadge status={signal.workflowStatus ?? ''} />,
  }));
  return [
    {
      id: 'id',
      header: 'ID',
      cell: opening('signal', (signal) => ({
        text: name(signal),
        opens: 'details of the signal',
        tip: signal.id,
      })),
    },
    { id: 'token', header: 'Token', cell: (signal) => <TokenBadge token={signal.token} /> },
    { id: 'position', header: 'Position', cell: (signal) => <ActionBadge action={signal.action} /> },
    {
      id: 'price',
      header: 'Price',
      align: 'right',
      cell: ({ price, currency }) => <span data-tip={`${price} ${currency}`}>{formatPrice(price)}</span>,
    },
    {
      id: 'sltp',
      header: 'SL/TP',
      align: 'right',
      cell: opening('sltp', (signal) => ({
        text: `${formatDecimals(signal.stopLoss, 4)} / ${formatDecimals(signal.takeProfit, 4)}`,
        opens: `SL/TP calculation of signal ${name(signal)}`,
        ...fullLevels(signal),
      })),
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
      cell: opening('workflows', ({ automaticCount, manualCount, ...signal }) => ({
        text: `${plainCount(automaticCount)} , ${plainCount(manualCount)}`,
        opens: `workflows of signal ${name(signal)}`,
        tip: `${plainCount(automaticCount)} automatic, ${plainCount(manualCount)} manual`,
      })),
    },
    {
      id: 'status',
      header: 'Status',
      cell: (signal) => (signal.workflowId && signal.workflowStatus ? status(signal) : '–'),
    },
    { id: 'success', header: 'Success', align: 'right', cell: (signal) => successRate(signal) ?? '–' },
    {
      id: 'trades',
      header: 'Trades',
      align: 'right',
      cell: opening('trades', (signal) => ({
        text: ratio(signal.successfulTrades, signal.totalTrades),
        opens: `trades of signal ${name(signal)}`,
      })),
    },
    {
      id: 'users',
      header: 'Users',
      align: 'right',
      cell: opening('users', (signal) => ({
        text: ratio(signal.successfulUsersCount, signal.eligibleUsersCount),
        opens: `users of signal ${name(signal)}`,
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
