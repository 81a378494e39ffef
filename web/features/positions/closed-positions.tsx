import type { ClosedPositionView } from '#contract/positions.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { formatFullPrice, formatMoney, formatQuantity } from '../../lib/figures.ts';
import { capitalise } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { Profit } from '../../ui/profit.tsx';
import { SideBadge } from '../../ui/side-badge.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';
import { differencesNote } from './differences.tsx';

/** What nobody planned stands out. */
const TONES: Partial<Record<ClosedPositionView['closedBy'], BadgeTone>> = {
  protection: 'warning',
  liquidation: 'warning',
  unknown: 'outline',
};

interface ClosedPositionsProps {
  positions: readonly ClosedPositionView[];
  faded: boolean;
}

export function ClosedPositions({ positions, faded }: ClosedPositionsProps) {
  const formatInstant = useFormatInstant();
  const columns: CardColumn<ClosedPositionView>[] = [
    { header: 'Token', place: 'title', cell: ({ token }) => <TokenBadge token={token} /> },
    { header: 'Side', cell: ({ side }) => <SideBadge side={side} /> },
    { header: 'User', cell: ({ username }) => username },
    { header: 'Size', align: 'right', cell: ({ quantity }) => formatQuantity(quantity) },
    { header: 'Entry', align: 'right', cell: ({ entryPrice }) => formatFullPrice(entryPrice) },
    {
      header: 'Close',
      align: 'right',
      cell: ({ closePrice }) => (closePrice === null ? null : formatFullPrice(closePrice)),
    },
    { header: 'Stop', align: 'right', cell: ({ stopLoss }) => formatFullPrice(stopLoss) },
    { header: 'Target', align: 'right', cell: ({ takeProfit }) => formatFullPrice(takeProfit) },
    {
      header: 'Profit',
      align: 'right',
      cell: ({ realisedProfit }) => (realisedProfit === null ? null : <Profit amount={realisedProfit} />),
    },
    { header: 'Fees', align: 'right', cell: ({ fees }) => (fees === null ? null : formatMoney(fees)) },
    {
      header: 'Closed By',
      cell: ({ closedBy }) => <Badge tone={TONES[closedBy] ?? 'neutral'}>{capitalise(closedBy)}</Badge>,
    },
    { header: 'Opened', cell: ({ openedAt }) => formatInstant(openedAt) },
    { header: 'Closed', cell: ({ closedAt }) => formatInstant(closedAt) },
  ];
  return (
    <CardTable
      label="Closed Positions"
      columns={columns}
      rows={positions}
      rowId={({ tradeId, closedAt }) => `${tradeId} ${closedAt}`}
      emptyText="No closed positions yet"
      minWidth={1280}
      faded={faded}
      note={differencesNote}
    />
  );
}
