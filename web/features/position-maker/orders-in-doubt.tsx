import { Button, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { OrderInDoubt, OrderResult } from '#contract/position-maker.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Panel } from '../../ui/panel.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { ActionBadge, TokenBadge } from '../../ui/trading-badges.tsx';
import classes from './position-maker.module.css';
import { positionMakerPath, useRefreshPositionMaker } from './position-maker-data.ts';

/** Orders with an outcome the exchange does not report, and what an administrator can do about them. */
export default function OrdersInDoubt({ orders }: { orders: readonly OrderInDoubt[] }) {
  const formatInstant = useFormatInstant();
  const refresh = useRefreshPositionMaker();
  const writeOff = useMutation({
    mutationFn: ({ tradeId }: OrderInDoubt) =>
      requestJson<OrderResult>(`${positionMakerPath}/orders/${tradeId}/write-off`, {
        method: 'POST',
        body: {},
      }),
    onSuccess: (_order, { token, username }) =>
      toastSuccess({
        title: 'Order Written Off',
        message: `What became of the ${token} order of ${username} stays unknown.`,
      }),
    onError: (error) =>
      toastError({
        title: 'Not written off',
        message: serverMessage(error, 'Failed to write the order off'),
      }),
    onSettled: refresh,
  });
  const [asked, setAsked] = useState<OrderInDoubt | null>(null);
  const columns: CardColumn<OrderInDoubt>[] = [
    { header: 'Username', place: 'title', cell: ({ username }) => username },
    { header: 'Token', cell: ({ token }) => <TokenBadge token={token} /> },
    { header: 'Action', cell: ({ side }) => <ActionBadge action={side} /> },
    { header: 'Quantity', cell: ({ quantity }) => <span className="numeric">{quantity}</span> },
    { header: 'Exchange', cell: ({ exchangePlatform }) => exchangePlatform },
    { header: 'Submitted At', cell: ({ createdAt }) => formatInstant(createdAt) },
    {
      header: 'Actions',
      cell: (order) => (
        <Button
          size="compact-sm"
          variant="default"
          disabled={writeOff.isPending}
          onClick={() => setAsked(order)}
        >
          Write Off
        </Button>
      ),
    },
  ];
  return (
    <Panel
      flush
      title="Orders In Doubt"
      description="Their exchange cannot be asked what became of them, or its answers do not settle it. They are tried every 30 seconds, and go on as soon as an answer settles them, or the user enters a working API key of the same account."
    >
      <CardTable
        label="Orders In Doubt"
        columns={columns}
        rows={orders}
        rowId={({ tradeId }) => tradeId}
        emptyText="No orders in doubt"
        minWidth={800}
        note={({ problem }) => <p className={classes.error}>{problem}</p>}
      />
      {asked === null ? null : (
        <ConfirmDialog
          opened
          title="Write Off Order"
          confirmLabel="Write Off"
          destructive
          onConfirm={() => {
            setAsked(null);
            writeOff.mutate(asked);
          }}
          onClose={() => setAsked(null)}
        >
          <Text size="sm">
            The {asked.token} order of {asked.username} is not followed any more. Look at the account on{' '}
            {asked.exchangePlatform} first: the order may be open, or have opened a position without a stop
            loss, and nothing here will close it.
          </Text>
          <Text size="sm">
            It stays on record as unknown, with your name, and its signal is not traded again.
          </Text>
        </ConfirmDialog>
      )}
    </Panel>
  );
}
