import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { OpenPositionView, PositionsAnswer } from '#contract/positions.ts';
import { FilterSelect } from '#web/lists/filter-select.tsx';
import { PolledView } from '#web/lists/polled-view.tsx';
import { formatMoney } from '../../lib/figures.ts';
import { formatCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { FailedQueries } from '../../ui/failed-queries.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Profit } from '../../ui/profit.tsx';
import { RefreshButton } from '../../ui/refresh-button.tsx';
import { StatCards } from '../../ui/stat-cards.tsx';
import { ClosedPositions, OpenPositions, TotalsPerToken, TotalsPerUser } from './position-tables.tsx';
import classes from './positions.module.css';
import { usePositions } from './positions-data.ts';
import { CLOSED_SHOWN_AT_MOST, type PositionsSearch } from './positions-search.ts';
import { ProfitChart } from './profit-chart.tsx';
import { UnreachableAccounts } from './unreachable-accounts.tsx';

const ClosePositionDialog = lazily(() => import('./close-position-dialog.tsx'));

interface PositionsScreenProps {
  search: PositionsSearch;
  onSearch: (change: PositionsSearch) => void;
  /** Users halted because of a position, shown above the positions. */
  halts: ReactNode;
}

export function PositionsScreen({ search, onSearch, halts }: PositionsScreenProps) {
  const positions = usePositions(search);
  const users = useQuery<{ id: string; username: string }[]>({ queryKey: ['/api/users'] });
  const tokens = useQuery<string[]>({ queryKey: ['/api/signals/tokens'] });
  const formatInstant = useFormatInstant();
  const [closing, setClosing] = useState<OpenPositionView | null>(null);
  const { data } = positions;

  return (
    <Page
      title="Positions"
      subtitle={`As the exchanges report them${data ? `, as of ${formatInstant(data.at)}` : ''}`}
      actions={
        <>
          <FilterSelect
            label="User"
            allLabel="All users"
            value={search.userId}
            options={(users.data ?? []).map(({ id, username }) => ({ value: id, label: username }))}
            onChange={(userId) => onSearch({ userId })}
          />
          <FilterSelect
            label="Token"
            allLabel="All tokens"
            value={search.token}
            // Positions may exist in tokens without a signal.
            options={tokensOf(tokens.data, data)}
            onChange={(token) => onSearch({ token })}
          />
          <RefreshButton onRefresh={() => void positions.refetch()} />
        </>
      }
    >
      <FailedQueries
        queries={[
          { title: 'Failed to fetch users', query: users },
          { title: 'Failed to fetch tokens', query: tokens },
        ]}
      />
      {halts}
      <PolledView query={positions} errorTitle="Failed to fetch positions">
        {(answer) => (
          <Positions
            answer={answer}
            faded={positions.isPlaceholderData}
            onClose={setClosing}
            onMore={() => onSearch({ limit: CLOSED_SHOWN_AT_MOST })}
          />
        )}
      </PolledView>
      {closing ? (
        <ClosePositionDialog
          position={closing}
          current={data?.open.find(
            ({ userId, token, side }) =>
              userId === closing.userId && token === closing.token && side === closing.side,
          )}
          onClose={() => setClosing(null)}
        />
      ) : null}
    </Page>
  );
}

const tokensOf = (ofSignals: string[] = [], answer?: PositionsAnswer) =>
  [...new Set([...ofSignals, ...(answer?.perToken ?? []).map(({ token }) => token)])].sort();

interface PositionsProps {
  answer: PositionsAnswer;
  /** The data belongs to the previous filters. */
  faded: boolean;
  onClose: (position: OpenPositionView) => void;
  /** Shows more closed positions. */
  onMore: () => void;
}

function Positions({ answer, faded, onClose, onMore }: PositionsProps) {
  const { open, closed, closedCount, totals, perUser, perToken, cumulativeProfit, unreachable } = answer;
  return (
    <>
      <UnreachableAccounts accounts={unreachable} />
      <StatCards
        cards={[
          { label: 'Open Positions', value: formatCount(totals.openCount) },
          { label: 'Unrealised Profit', value: <Profit amount={totals.unrealisedProfit} /> },
          { label: 'Margin in Use', value: formatMoney(totals.margin) },
          {
            label: 'Realised Profit',
            value: <Profit amount={totals.realisedProfit} />,
            detail: 'Fees not taken off',
          },
          { label: 'Fees', value: formatMoney(totals.fees) },
          {
            label: 'Net Profit',
            value: <Profit amount={cumulativeProfit.at(-1)?.profit ?? '0'} />,
            detail: 'Realised, after fees',
          },
        ]}
      />
      <Panel flush title="Open Positions">
        <OpenPositions rows={open} faded={faded} onClose={onClose} />
      </Panel>
      <Panel
        title="Cumulative Profit"
        description="Realised profit after fees, closed position by closed position"
      >
        <ProfitChart points={cumulativeProfit} />
      </Panel>
      <div className={classes.totals}>
        <Panel flush title="Per User">
          <TotalsPerUser rows={perUser} faded={faded} />
        </Panel>
        <Panel flush title="Per Token">
          <TotalsPerToken rows={perToken} faded={faded} />
        </Panel>
      </div>
      <Panel
        flush
        title="Closed Positions"
        description={`Showing ${formatCount(closed.length)} of ${formatCount(closedCount)} closed positions`}
        aside={
          closed.length < Math.min(closedCount, CLOSED_SHOWN_AT_MOST) ? (
            <Button size="xs" variant="default" onClick={onMore}>
              Show more
            </Button>
          ) : null
        }
      >
        <ClosedPositions rows={closed} faded={faded} />
      </Panel>
    </>
  );
}
