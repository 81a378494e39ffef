import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import type { OrderInDoubt } from '#contract/position-maker.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { requestJson } from '../../lib/api-client.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { ConfirmChange } from '../../ui/confirm-change.tsx';
import { Panel } from '../../ui/panel.tsx';
import { SideBadge, TokenBadge } from '../../ui/trading-badges.tsx';
import classes from './position-maker.module.css';
import { positionMakerPath, positionMakerPaths } from './position-maker-data.ts';

/** Orders with an outcome the exchange does not report, and what an administrator can do about them. */
export default function OrdersInDoubt({ orders }: { orders: readonly OrderInDoubt[] }) {
  const formatInstant = useFormatInstant();
  const [asked, setAsked] = useState<OrderInDoubt | null>(null);
  const columns: CardColumn<OrderInDoubt>[] = [
    { header: 'Username', place: 'title', cell: ({ username }) => username },
    { header: 'Token', cell: ({ token }) => <TokenBadge token={token} /> },
    { header: 'Action', cell: ({ side }) => <SideBadge side={side} /> },
    { header: 'Quantity', cell: ({ quantity }) => <span className="numeric">{quantity}</span> },
    { header: 'Exchange', cell: ({ exchangePlatform }) => exchangePlatform },
    { header: 'Submitted At', cell: ({ createdAt }) => formatInstant(createdAt) },
    {
      header: 'Actions',
      cell: (order) => (
        <Button size="compact-sm" variant="default" onClick={() => setAsked(order)}>
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
        <ConfirmChange
          title="Write Off Order"
          confirmLabel="Write Off"
          destructive
          send={() =>
            requestJson(`${positionMakerPath}/orders/${asked.tradeId}/write-off`, {
              method: 'POST',
              body: {},
            })
          }
          done={() => ({
            title: 'Order Written Off',
            message: `What became of the ${asked.token} order of ${asked.username} stays unknown.`,
          })}
          failed={{ title: 'Not written off', otherwise: 'Failed to write the order off' }}
          refresh={positionMakerPaths}
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
        </ConfirmChange>
      )}
    </Panel>
  );
}
