import { Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
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

/** A figure; null shows nothing. */
const figure = <Row,>(
  header: string,
  read: (row: Row) => string | null,
  format: (figure: string) => ReactNode,
): CardColumn<Row> => ({
  header,
  align: 'right',
  cell: (row) => {
    const value = read(row);
    return value === null ? null : format(value);
  },
});

const money = (amount: string) => <Profit amount={amount} />;

type Position = Pick<OpenPositionView, 'token' | 'side' | 'username' | 'quantity' | 'entryPrice'>;

const TOKEN: CardColumn<{ token: string }> = {
  header: 'Token',
  place: 'title',
  cell: ({ token }) => <TokenBadge token={token} />,
};

const POSITION_COLUMNS: CardColumn<Position>[] = [
  TOKEN,
  { header: 'Side', cell: ({ side }) => <SideBadge side={side} /> },
  { header: 'User', cell: ({ username }) => username },
  figure('Size', ({ quantity }) => quantity, formatQuantity),
  figure('Entry', ({ entryPrice }) => entryPrice, formatFullPrice),
];

interface TableProps<Row> {
  rows: readonly Row[];
  /** The rows belong to the previous filters. */
  faded: boolean;
}

export function OpenPositions(
  props: TableProps<OpenPositionView> & { onClose: (position: OpenPositionView) => void },
) {
  const formatInstant = useFormatInstant();
  const columns: CardColumn<OpenPositionView>[] = [
    ...POSITION_COLUMNS,
    figure('Mark', ({ markPrice }) => markPrice, formatFullPrice),
    {
      header: 'Stop',
      align: 'right',
      // Shown on cards too, because a position without a stop must stand out.
      cell: ({ stopLoss }) =>
        stopLoss === null ? <strong className="sell">No stop</strong> : formatFullPrice(stopLoss),
    },
    figure('Target', ({ takeProfit }) => takeProfit, formatFullPrice),
    { header: 'Leverage', align: 'right', cell: ({ leverage }) => formatLeverage(leverage) },
    { header: 'Margin', align: 'right', cell: ({ margin }) => formatMoney(margin) },
    {
      header: 'Unrealised Profit',
      align: 'right',
      cell: ({ unrealisedProfit, margin }) => (
        <Profit amount={unrealisedProfit} aside={formatReturn(unrealisedProfit, margin)} />
      ),
    },
    { header: 'Opened', cell: ({ openedAt }) => openedAt && formatInstant(openedAt) },
    {
      header: 'Actions',
      place: 'action',
      cell: (position) => (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`Close ${position.token} position of ${position.username}`}
          onClick={() => props.onClose(position)}
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
      rows={props.rows}
      rowId={({ userId, exchangePlatform, token, side }) => `${userId} ${exchangePlatform} ${token} ${side}`}
      emptyText="No open positions"
      minWidth={1280}
      faded={props.faded}
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

export function ClosedPositions(props: TableProps<ClosedPositionView>) {
  const formatInstant = useFormatInstant();
  const columns: CardColumn<ClosedPositionView>[] = [
    ...POSITION_COLUMNS,
    figure('Close', ({ closePrice }) => closePrice, formatFullPrice),
    figure('Stop', ({ stopLoss }) => stopLoss, formatFullPrice),
    figure('Target', ({ takeProfit }) => takeProfit, formatFullPrice),
    figure('Profit', ({ realisedProfit }) => realisedProfit, money),
    figure('Fees', ({ fees }) => fees, formatMoney),
    {
      header: 'Closed By',
      cell: ({ closedBy }) => <Badge tone={TONES[closedBy] ?? 'neutral'}>{capitalise(closedBy)}</Badge>,
    },
    { header: 'Opened', cell: ({ openedAt }) => formatInstant(openedAt) },
    { header: 'Closed', cell: ({ closedAt }) => formatInstant(closedAt) },
  ];
  return (
    <CardTable
      {...props}
      label="Closed Positions"
      columns={columns}
      rowId={({ tradeId, closedAt }) => `${tradeId} ${closedAt}`}
      emptyText="No closed positions yet"
      minWidth={1280}
      note={differencesNote}
    />
  );
}

type Totals = PositionsAnswer['totals'];

const FIGURES: CardColumn<Totals>[] = [
  { header: 'Open', align: 'right', cell: ({ openCount }) => formatCount(openCount) },
  figure('Unrealised Profit', ({ unrealisedProfit }) => unrealisedProfit, money),
  figure('Margin', ({ margin }) => margin, formatMoney),
  figure('Realised Profit', ({ realisedProfit }) => realisedProfit, money),
  figure('Fees', ({ fees }) => fees, formatMoney),
];

export function TotalsPerUser(props: TableProps<PositionsAnswer['perUser'][number]>) {
  return (
    <CardTable
      {...props}
      label="Totals per user"
      columns={[{ header: 'User', place: 'title', cell: ({ username }) => username }, ...FIGURES]}
      rowId={({ userId }) => userId}
      emptyText="No positions yet"
      minWidth={600}
    />
  );
}

export function TotalsPerToken(props: TableProps<PositionsAnswer['perToken'][number]>) {
  return (
    <CardTable
      {...props}
      label="Totals per token"
      columns={[TOKEN, ...FIGURES]}
      rowId={({ token }) => token}
      emptyText="No positions yet"
      minWidth={600}
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
