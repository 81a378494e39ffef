import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ClosePositionAnswer, OpenPositionView } from '#contract/positions.ts';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { formatFullPrice, formatMoney, formatQuantity, formatReturn } from '../../lib/figures.ts';
import { capitalise, formatLeverage } from '../../lib/format.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Profit } from '../../ui/profit.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { positionsPath } from './positions-data.ts';

interface ClosePositionDialogProps {
  /** The position when the button was pressed. */
  position: OpenPositionView;
  /** The position now; undefined once it is closed. */
  current: OpenPositionView | undefined;
  onClose: () => void;
}

export default function ClosePositionDialog({ position, current, onClose }: ClosePositionDialogProps) {
  const client = useQueryClient();
  const [failure, setFailure] = useState<string | null>(null);
  const { userId, username, token } = position;
  const closing = useMutation({
    mutationFn: () =>
      requestJson<ClosePositionAnswer>(`${positionsPath}/close`, { method: 'POST', body: { userId, token } }),
    // After a failure the list may be outdated: the position may be closed nevertheless.
    onSettled: () => client.invalidateQueries({ queryKey: [positionsPath] }),
  });
  const fail = (message: string) => {
    setFailure(message);
    toastError({ title: 'Failed to Close Position', message });
  };
  const confirm = () => {
    setFailure(null);
    closing.mutate(undefined, {
      onSuccess: ({ success, message }) => {
        if (!success) return fail(message);
        toastSuccess({ title: 'Position Closed', message });
        onClose();
      },
      onError: (error) => fail(serverMessage(error, error.message)),
    });
  };
  return (
    <ConfirmDialog
      opened
      title={`Close Position - ${token}`}
      confirmLabel="Close Position"
      pendingLabel="Closing..."
      pending={closing.isPending}
      destructive
      onConfirm={confirm}
      // Stay open until the answer arrives, to show the outcome.
      onClose={() => (closing.isPending ? undefined : onClose())}
    >
      <Text size="sm">
        Close the whole position of <strong>{username}</strong> at the market price? Its stop and target are
        cancelled, and no position is opened.
      </Text>
      <PositionFacts position={current ?? position} />
      {current === undefined && !closing.isPending ? (
        <Alert color="yellow" title="No longer open" icon={<IconAlertTriangle aria-hidden />}>
          The exchange reports this position no more. These are its last figures.
        </Alert>
      ) : null}
      {failure === null ? null : (
        <Alert color="red" title="Failed to Close Position" role="alert">
          {failure}
        </Alert>
      )}
    </ConfirmDialog>
  );
}

function PositionFacts({ position }: { position: OpenPositionView }) {
  const { token, side, quantity, entryPrice, markPrice, unrealisedProfit, margin } = position;
  return (
    <Facts
      columns={2}
      facts={[
        ['Side', capitalise(side)],
        ['Size', `${formatQuantity(quantity)} ${token}`],
        ['Entry Price', formatFullPrice(entryPrice)],
        ['Mark Price', formatFullPrice(markPrice)],
        [
          'Unrealised Profit',
          <Profit key="profit" amount={unrealisedProfit} aside={formatReturn(unrealisedProfit, margin)} />,
        ],
        ['Margin', formatMoney(margin)],
        ['Exchange', position.exchangePlatform],
        ['Leverage', formatLeverage(position.leverage)],
      ]}
    />
  );
}
