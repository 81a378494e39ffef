import { Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { ClosedPositionView, OpenPositionView, PositionsAnswer } from '#contract/positions.ts';
import { CardLines } from '#web/lists/card-lines.tsx';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { useReadableInstants } from '#web/ui/use-readable-instants.ts';
import {
  formatFullPrice,
  formatMoney,
  formatProfit,
  formatQuantity,
  formatReturn,
} from '../../lib/figures.ts';
import { capitalise, formatCount, formatLeverage } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { CellButton } from '../../ui/cell-button.tsx';
import { Profit } from '../../ui/profit.tsx';
import { SideBadge, TokenBadge } from '../../ui/trading-badges.tsx';
import { ExitProgress } from './exit-progress.tsx';
import { netProfit } from './net-profit.ts';
import { ClosedPositionCard, PositionCard } from './position-card.tsx';
import { positionId } from './position-id.ts';
import classes from './positions.module.css';
import type { PositionsGroup } from './positions-search.ts';
import { StopTargetBar } from './stop-target-bar.tsx';

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
  { header: 'User', cell: ({ username }) => <User name={username} /> },
  figure('Size', ({ quantity }) => quantity, formatQuantity),
  figure('Entry', ({ entryPrice }) => entryPrice, formatFullPrice),
];

/** Cut where the table is narrow; the whole name is in its title. */
const User = ({ name }: { name: string }) => (
  <span className={classes.user} title={name}>
    {name}
  </span>
);

/** Date and time, one above the other where the table is narrow. */
const Instant = ({ children }: { children: string }) => <span className={classes.instant}>{children}</span>;

interface TableProps<Row> {
  rows: readonly Row[];
  /** The rows belong to the previous filters. */
  faded: boolean;
}

export function OpenPositions(
  props: TableProps<OpenPositionView> & {
    group: PositionsGroup | undefined;
    onClose: (position: OpenPositionView, percent: number) => void;
    onMove: (position: OpenPositionView) => void;
    /** The id of the position whose panel is shown. */
    opened: string | undefined;
    onPanel: (position: OpenPositionView) => void;
    /** Ids of the selected positions. */
    selected: ReadonlySet<string>;
    onSelect: (positions: readonly OpenPositionView[]) => void;
  },
) {
  const formatInstant = useFormatInstant();
  const { rows, selected, onSelect } = props;
  const isAllSelected = rows.length > 0 && rows.every((row) => selected.has(positionId(row)));
  const columns: CardColumn<OpenPositionView>[] = [
    {
      header: 'Select',
      place: 'select',
      head: (
        <input
          type="checkbox"
          aria-label="Select all open positions"
          checked={isAllSelected}
          disabled={rows.length === 0}
          onChange={() => onSelect(isAllSelected ? [] : rows)}
        />
      ),
      cell: (position) => (
        <input
          type="checkbox"
          aria-label={`Select ${position.token} position of ${position.username}`}
          checked={selected.has(positionId(position))}
          onChange={({ currentTarget: { checked } }) =>
            onSelect(rows.filter((row) => (row === position ? checked : selected.has(positionId(row)))))
          }
        />
      ),
    },
    {
      ...TOKEN,
      cell: (position) => (
        <CellButton
          text={position.token}
          opens={`panel of the position of ${position.username}`}
          row={positionId(position)}
          onClick={() => props.onPanel(position)}
        >
          <TokenBadge token={position.token} />
        </CellButton>
      ),
    },
    ...POSITION_COLUMNS.slice(1),
    // The bar shows it, too.
    { ...figure<OpenPositionView>('Mark', ({ markPrice }) => markPrice, formatFullPrice), isSpare: true },
    { header: 'Stop to Target', cell: (position) => <StopTargetBar position={position} /> },
    { header: 'Leverage', align: 'right', isSpare: true, cell: ({ leverage }) => formatLeverage(leverage) },
    { header: 'Margin', align: 'right', isSpare: true, cell: ({ margin }) => formatMoney(margin) },
    {
      header: 'Unrealised Profit',
      align: 'right',
      cell: ({ unrealisedProfit, margin }) => (
        <span className={classes.stacked}>
          <Profit amount={unrealisedProfit} />{' '}
          <span className={classes.quiet}>({formatReturn(unrealisedProfit, margin)})</span>
        </span>
      ),
    },
    {
      header: 'Opened',
      isSpare: true,
      cell: ({ openedAt }) => openedAt && <Instant>{formatInstant(openedAt)}</Instant>,
    },
    {
      header: 'Position',
      place: 'card',
      cell: (position) => <PositionCard position={position} onPanel={() => props.onPanel(position)} />,
    },
    {
      header: 'Actions',
      place: 'action',
      cell: (position) => (
        <Button.Group>
          {position.tradeId === null ? null : (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={`Move stop and target of the ${position.token} position of ${position.username}`}
              onClick={() => props.onMove(position)}
            >
              Move
            </Button>
          )}
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Close 50 % of the ${position.token} position of ${position.username}`}
            onClick={() => props.onClose(position, 50)}
          >
            50 %
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Close ${position.token} position of ${position.username}`}
            onClick={() => props.onClose(position, 100)}
          >
            Close
          </Button>
        </Button.Group>
      ),
    },
  ];
  return (
    <CardTable
      label="Open Positions"
      columns={columns}
      rows={props.rows}
      rowId={positionId}
      groups={props.group && { of: GROUP_NAMES[props.group], head: groupHead }}
      emptyText="No open positions"
      minWidth={820}
      faded={props.faded}
      note={openNote}
      rowPanel={{ opened: props.opened, onOpen: props.onPanel }}
    />
  );
}

/** As the table shows them: those of one group together. */
export const inShownOrder = (
  positions: readonly OpenPositionView[],
  group: PositionsGroup | undefined,
): readonly OpenPositionView[] =>
  group === undefined ? positions : [...Map.groupBy(positions, GROUP_NAMES[group]).values()].flat();

const GROUP_NAMES: Record<PositionsGroup, (position: OpenPositionView) => string> = {
  token: ({ token }) => token,
  user: ({ username }) => username,
  strategy: ({ processor }) => processor ?? 'Not opened here',
};

function groupHead(name: string, positions: readonly OpenPositionView[]): ReactNode {
  const profit = positions.reduce((sum, { unrealisedProfit }) => sum + Number(unrealisedProfit), 0);
  return (
    <span className={classes.group}>
      {name}
      <span>{positions.length === 1 ? '1 position' : `${formatCount(positions.length)} positions`}</span>
      <Profit amount={String(profit)} />
    </span>
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
    {
      header: 'Stop / Target',
      align: 'right',
      isSpare: true,
      cell: ({ stopLoss, takeProfit }) => (
        <span className={classes.stacked}>
          <span>{formatFullPrice(stopLoss)}</span>
          <span>{formatFullPrice(takeProfit)}</span>
        </span>
      ),
    },
    {
      header: 'Net Profit',
      align: 'right',
      cell: ({ realisedProfit, fees }) =>
        realisedProfit === null ? null : (
          <span>
            <Profit amount={netProfit(realisedProfit, fees)} />
            <span className={classes.quiet}>
              {formatProfit(realisedProfit)} gross, {formatMoney(fees)} fees
            </span>
          </span>
        ),
    },
    {
      header: 'Closed By',
      cell: ({ closedBy }) => <Badge tone={TONES[closedBy] ?? 'neutral'}>{capitalise(closedBy)}</Badge>,
    },
    { header: 'Opened', isSpare: true, cell: ({ openedAt }) => <Instant>{formatInstant(openedAt)}</Instant> },
    { header: 'Closed', cell: ({ closedAt }) => <Instant>{formatInstant(closedAt)}</Instant> },
    { header: 'Position', place: 'card', cell: (position) => <ClosedPositionCard position={position} /> },
  ];
  return (
    <CardTable
      {...props}
      label="Closed Positions"
      columns={columns}
      rowId={({ tradeId, closedAt }) => `${tradeId} ${closedAt}`}
      emptyText="No closed positions yet"
      minWidth={820}
      note={differencesNote}
    />
  );
}

type Totals = PositionsAnswer['totals'];

/** Sums on a telephone. */
const totalsCard = <Row extends Totals>(name: (row: Row) => string): CardColumn<Row> => ({
  header: 'Sums',
  place: 'card',
  cell: (row) => (
    <CardLines
      lines={[
        [<strong key="name">{name(row)}</strong>, row.realisedProfit && money(row.realisedProfit)],
        [
          `${formatCount(row.openCount)} open, ${formatProfit(row.unrealisedProfit)}`,
          `realised, ${formatMoney(row.fees)} fees`,
        ],
      ]}
    />
  ),
});

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
      columns={[
        { header: 'User', place: 'title', cell: ({ username }) => username },
        ...FIGURES,
        totalsCard<PositionsAnswer['perUser'][number]>(({ username }) => username),
      ]}
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
      columns={[TOKEN, ...FIGURES, totalsCard<PositionsAnswer['perToken'][number]>(({ token }) => token)]}
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

/** The exit plan stands below the row: beside the bar it would push the profit off the screen. */
function openNote({ exits, token, differences }: OpenPositionView): ReactNode {
  if (!exits && differences.length === 0) return null;
  return (
    <>
      {exits ? <ExitProgress exits={exits} token={token} /> : null}
      {differencesNote({ differences })}
    </>
  );
}

const differencesNote = ({ differences }: { differences: readonly string[] }) =>
  differences.length === 0 ? null : <Differences differences={differences} />;
