import type { PositionsAnswer } from '#contract/positions.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { formatMoney } from '../../lib/figures.ts';
import { formatCount } from '../../lib/format.ts';
import { Profit } from '../../ui/profit.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';

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
