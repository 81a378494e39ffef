import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ClosePositionAnswer, OpenPositionView } from '#contract/positions.ts';
import { requestJson } from '../../lib/api-client.ts';
import { formatMoney, formatQuantity } from '../../lib/figures.ts';
import { capitalise, formatCount } from '../../lib/format.ts';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Profit } from '../../ui/profit.tsx';
import { toastSuccess } from '../../ui/toast.ts';
import { positionId } from './position-id.ts';
import classes from './positions.module.css';
import { positionsPath } from './positions-data.ts';

/** Requests at a time: the server takes a user's account for each, and exchanges limit requests. */
const CONCURRENT = 4;

type Outcome = { state: 'waiting' | 'closing' } | { state: 'closed' | 'failed'; message: string };

const WORDS = { waiting: '', closing: 'Closing...', closed: 'Closed', failed: 'Not closed' } as const;

interface ClosePositionsDialogProps {
  /** As they were when the button was pressed. */
  positions: readonly OpenPositionView[];
  onClose: () => void;
}

/** Closes several positions after one confirmation. Each is a request of its own, and reported by itself. */
export default function ClosePositionsDialog({ positions, onClose }: ClosePositionsDialogProps) {
  const client = useQueryClient();
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const [isClosing, setClosing] = useState(false);
  const outcomeOf = (position: OpenPositionView): Outcome =>
    outcomes.get(positionId(position)) ?? { state: 'waiting' };
  const left = positions.filter((position) => outcomeOf(position).state !== 'closed');
  const hasFailed = left.length > 0 && outcomes.size > 0 && !isClosing;
  const sum = (read: (position: OpenPositionView) => string) =>
    String(left.reduce((total, position) => total + Number(read(position)), 0));

  async function closeOne(position: OpenPositionView): Promise<boolean> {
    const note = (outcome: Outcome) =>
      setOutcomes((known) => new Map(known).set(positionId(position), outcome));
    note({ state: 'closing' });
    const { userId, token } = position;
    const answer = await requestJson<ClosePositionAnswer>(`${positionsPath}/close`, {
      method: 'POST',
      body: { userId, token, percent: 100 },
    }).catch((error: unknown) => ({
      success: false,
      message: error instanceof Error ? error.message : String(error),
    }));
    note({ state: answer.success ? 'closed' : 'failed', message: answer.message });
    return answer.success;
  }

  async function closeAll(): Promise<void> {
    setClosing(true);
    const waiting = left.values();
    let closed = 0;
    const lane = async () => {
      for (const position of waiting) if (await closeOne(position)) closed += 1;
    };
    await Promise.all(Array.from({ length: CONCURRENT }, lane));
    setClosing(false);
    void client.invalidateQueries({ queryKey: [positionsPath] });
    if (closed < left.length) return;
    const message = closed === 1 ? '1 position was closed' : `${formatCount(closed)} positions were closed`;
    toastSuccess({ title: 'Positions Closed', message });
    onClose();
  }

  const close = isClosing ? () => {} : onClose;
  const count = left.length === 1 ? '1 Position' : `${formatCount(left.length)} Positions`;
  return (
    <Dialog opened onClose={close} title={`Close ${count}`} size="lg">
      <Text size="sm" mb="sm">
        Close {left.length === 1 ? 'this position' : `these ${formatCount(left.length)} positions`} at the
        market price? Their stops and targets are cancelled, and no position is opened.
      </Text>
      <Facts
        columns={2}
        facts={[
          [
            'Unrealised Profit',
            <Profit key="profit" amount={sum(({ unrealisedProfit }) => unrealisedProfit)} />,
          ],
          ['Margin', formatMoney(sum(({ margin }) => margin))],
        ]}
      />
      <ul className={classes.outcomes} aria-label="Positions to close" aria-live="polite">
        {positions.map((position) => {
          const outcome = outcomeOf(position);
          return (
            <li key={positionId(position)}>
              <span>
                {capitalise(position.side)} {formatQuantity(position.quantity)} {position.token} ·{' '}
                {position.username}
              </span>
              {outcome.state === 'waiting' ? (
                <Profit amount={position.unrealisedProfit} />
              ) : (
                <strong className={outcome.state === 'failed' ? 'sell' : ''}>{WORDS[outcome.state]}</strong>
              )}
              {'message' in outcome && outcome.state === 'failed' ? <span>{outcome.message}</span> : null}
            </li>
          );
        })}
      </ul>
      <DialogButtons
        label={hasFailed ? 'Try Again' : `Close ${count}`}
        pendingLabel="Closing..."
        pending={isClosing}
        destructive
        onCancel={close}
        onConfirm={() => void closeAll()}
      />
    </Dialog>
  );
}
