import { Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ClosedPositionView, OpenPositionView, PositionsAnswer } from '#contract/positions.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { useReadableInstants } from '#web/ui/use-readable-instants.ts';
import { formatFullPrice, formatMoney, formatQuantity, formatReturn } from '../../lib/figures.ts';
import { capitalise, formatCount, formatLeverage } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { Profit } from '../../ui/profit.tsx';
import { SideBadge } from '../../ui/side-badge.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';
import classes from './positions.module.css';

type Position = Pick<OpenPositionView, 'token' | 'side' | 'username' | 'quantity' | 'entryPrice'>;

const POSITION_COLUMNS: CardColumn<Position>[] = [
  { header: 'Token', place: 'title', cell: ({ token }) => <TokenBadge token={token} /> },
  { header: 'Side', cell: ({ side }) => <SideBadge side={side} /> },
  { header: 'User', cell: ({ username }) => username },
  { header: 'Size', align: 'right', cell: ({ quantity }) => formatQuantity(quantity) },
  { header: 'Entry', align: 'right', cell: ({ entryPrice }) => formatFullPrice(entryPrice) },
];

interface OpenPositionsProps {
  positions: readonly OpenPositionView[];
  faded: boolean;
  onClose: (position: OpenPositionView) => void;
}

export function OpenPositions({ positions, faded, onClose }: OpenPositionsProps) {
  const formatInstant = useFormatInstant();
  const columns: CardColumn<OpenPositionView>[] = [
    ...POSITION_COLUMNS,
    {
      header: 'Mark',
      align: 'right',
      cell: ({ markPrice }) => (markPrice === null ? null : formatFullPrice(markPrice)),
    },
    {
      header: 'Stop',
      align: 'right',
      // Shown on cards too, because a position without a stop must stand out.
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

/** Highlights unplanned closes. */
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
    ...POSITION_COLUMNS,
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

type Totals = PositionsAnswer['totals'];

const FIGURES: CardColumn<Totals>[] = [
  { header: 'Open', align: 'right', cell: ({ openCount }) => formatCount(openCount) },
  {
    header: 'Unrealised Profit',
    align: 'right',
    cell: ({ unrealisedProfit }) => <Profit amount={unrealisedProfit} />,
  },
  { header: 'Margin', align: 'right', cell: ({ margin }) => formatMoney(margin) },
  {
    header: 'Realised Profit',
    align: 'right',
    cell: ({ realisedProfit }) => <Profit amount={realisedProfit} />,
  },
  { header: 'Fees', align: 'right', cell: ({ fees }) => formatMoney(fees) },
];

interface ProfitTotalsProps<Row> {
  rows: readonly Row[];
  faded: boolean;
}

export function TotalsPerUser({ rows, faded }: ProfitTotalsProps<PositionsAnswer['perUser'][number]>) {
  return (
    <CardTable
      label="Totals per user"
      columns={[{ header: 'User', place: 'title', cell: ({ username }) => username }, ...FIGURES]}
      rows={rows}
      rowId={({ userId }) => userId}
      emptyText="No positions yet"
      minWidth={600}
      faded={faded}
    />
  );
}

export function TotalsPerToken({ rows, faded }: ProfitTotalsProps<PositionsAnswer['perToken'][number]>) {
  return (
    <CardTable
      label="Totals per token"
      columns={[
        { header: 'Token', place: 'title', cell: ({ token }) => <TokenBadge token={token} /> },
        ...FIGURES,
      ]}
      rows={rows}
      rowId={({ token }) => token}
      emptyText="No positions yet"
      minWidth={600}
      faded={faded}
    />
  );
}

/** Differences between the exchange and our records. */
function Differences({ differences }: { differences: readonly string[] }) {
  const readable = useReadableInstants();
  return (
    <ul className={classes.differences} aria-label="Differences">
      {differences.map((difference) => (
        <li key={difference}>
          <IconAlertTriangle size={15} role="img" aria-label="Warning" />
          {readable(difference)}
        </li>
      ))}
    </ul>
  );
}

const differencesNote = ({ differences }: { differences: readonly string[] }) =>
  differences.length === 0 ? null : <Differences differences={differences} />;
