import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useState } from 'react';
import type { OpenPositionView } from '#contract/positions.ts';
import { serverMessage } from '../../lib/api-client.ts';
import { formatFullPrice, formatMoney, formatQuantity, formatReturn } from '../../lib/figures.ts';
import { capitalise, formatLeverage } from '../../lib/format.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Profit } from '../../ui/profit.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { useClosePosition } from './close-position.ts';

interface ClosePositionDialogProps {
  /** As it was when the button was pressed. */
  position: OpenPositionView;
  /** As it is now; undefined when it is open no more. */
  current: OpenPositionView | undefined;
  onClose: () => void;
}

export default function ClosePositionDialog({ position, current, onClose }: ClosePositionDialogProps) {
  const closing = useClosePosition();
  const [failure, setFailure] = useState<string | null>(null);
  const { userId, username, token } = position;
  const fail = (message: string) => {
    setFailure(message);
    toastError({ title: 'Failed to Close Position', message });
  };
  const confirm = () => {
    setFailure(null);
    closing.mutate(
      { userId, token },
      {
        onSuccess: ({ success, message }) => {
          if (!success) return fail(message);
          toastSuccess({ title: 'Position Closed', message });
          onClose();
        },
        onError: (error) => fail(serverMessage(error, error.message)),
      },
    );
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
      // Closed while the answer is under way, the dialog could not tell what came of it.
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
