import { Button } from '@mantine/core';
import type { OpenPositionView } from '#contract/positions.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { formatFullPrice, formatMoney, formatQuantity, formatReturn } from '../../lib/figures.ts';
import { formatLeverage } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Profit } from '../../ui/profit.tsx';
import { SideBadge } from '../../ui/side-badge.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';
import { differencesNote } from './differences.tsx';

interface OpenPositionsProps {
  positions: readonly OpenPositionView[];
  faded: boolean;
  onClose: (position: OpenPositionView) => void;
}

export function OpenPositions({ positions, faded, onClose }: OpenPositionsProps) {
  const formatInstant = useFormatInstant();
  const columns: CardColumn<OpenPositionView>[] = [
    { header: 'Token', place: 'title', cell: ({ token }) => <TokenBadge token={token} /> },
    { header: 'Side', cell: ({ side }) => <SideBadge side={side} /> },
    { header: 'User', cell: ({ username }) => username },
    { header: 'Size', align: 'right', cell: ({ quantity }) => formatQuantity(quantity) },
    { header: 'Entry', align: 'right', cell: ({ entryPrice }) => formatFullPrice(entryPrice) },
    {
      header: 'Mark',
      align: 'right',
      cell: ({ markPrice }) => (markPrice === null ? null : formatFullPrice(markPrice)),
    },
    {
      header: 'Stop',
      align: 'right',
      // Nothing to hide on a card: a position without a stop is what has to be seen first.
      cell: ({ stopLoss }) =>
        stopLoss === null ? <strong className="sell">No stop</strong> : formatFullPrice(stopLoss),
    },
    {
      header: 'Target',
      align: 'right',
      cell: ({ takeProfit }) => (takeProfit === null ? null : formatFullPrice(takeProfit)),
    },
    { header: 'Leverage', align: 'right', cell: ({ leverage }) => formatLeverage(leverage) },
    { header: 'Margin', align: 'right', cell: ({ margin }) => formatMoney(margin) },
    {
      header: 'Unrealised Profit',
      align: 'right',
      cell: ({ unrealisedProfit, margin }) => (
        <Profit amount={unrealisedProfit} aside={formatReturn(unrealisedProfit, margin)} />
      ),
    },
    {
      header: 'Opened',
      cell: ({ openedAt }) => (openedAt === null ? null : formatInstant(openedAt)),
    },
    {
      header: 'Actions',
      place: 'action',
      cell: (position) => (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`Close ${position.token} position of ${position.username}`}
          onClick={() => onClose(position)}
        >
          Close
        </Button>
      ),
    },
  ];
  return (
    <CardTable
      label="Open Positions"
      columns={columns}
      rows={positions}
      rowId={({ userId, exchangePlatform, token, side }) => `${userId} ${exchangePlatform} ${token} ${side}`}
      emptyText="No open positions"
      minWidth={1280}
      faded={faded}
      note={differencesNote}
    />
  );
}
