import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import type { OpenPositionView, PositionsAnswer } from '#contract/positions.ts';
import { FilterSelect } from '#web/lists/filter-select.tsx';
import { PolledView } from '#web/lists/polled-view.tsx';
import { Split } from '#web/lists/split.tsx';
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
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { positionId } from './position-id.ts';
import {
  ClosedPositions,
  inShownOrder,
  OpenPositions,
  TotalsPerToken,
  TotalsPerUser,
} from './position-tables.tsx';
import classes from './positions.module.css';
import { usePositions } from './positions-data.ts';
import { CLOSED_SHOWN_AT_MOST, type PositionsGroup, type PositionsSearch } from './positions-search.ts';
import { ProfitChart } from './profit-chart.tsx';

const PositionPanel = lazily(() => import('./position-panel.tsx'));
const MoveProtectionDialog = lazily(() => import('./move-protection-dialog.tsx'));
const ClosePositionsDialog = lazily(() => import('./close-positions-dialog.tsx'));
const ClosedPositionsExport = lazily(() => import('./closed-positions-export.tsx'));
const UnreachableAccounts = lazily(() => import('./unreachable-accounts.tsx'));
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
  const [closing, setClosing] = useState<{ position: OpenPositionView; percent: number } | null>(null);
  const [closingAll, setClosingAll] = useState<readonly OpenPositionView[]>([]);
  const [moving, setMoving] = useState<OpenPositionView | null>(null);
  const { open, adjust } = useDialogHistory();
  const { data } = positions;
  const rows = useMemo(() => inShownOrder(data?.open ?? [], search.group), [data, search.group]);
  const onPanel = (position: OpenPositionView) =>
    (search.position === undefined ? open : adjust)({ position: positionId(position) });
  const panel =
    search.position === undefined || data === undefined ? null : (
      <PositionPanel
        id={search.position}
        rows={rows}
        onClosePanel={() => onSearch({ position: undefined })}
        onClose={(position, percent) => setClosing({ position, percent })}
        onMove={setMoving}
      />
    );
  const currentOf = (position: OpenPositionView) =>
    data?.open.find(
      ({ userId, token, side }) =>
        userId === position.userId && token === position.token && side === position.side,
    );

  return (
    <Split aside={panel}>
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
              group={search.group}
              onGroup={(group) => onSearch({ group })}
              onClose={(position, percent) => setClosing({ position, percent })}
              onMove={setMoving}
              opened={search.position}
              onPanel={onPanel}
              onCloseAll={setClosingAll}
              exportButton={<ClosedPositionsExport userId={search.userId} token={search.token} />}
              onMore={() => onSearch({ limit: CLOSED_SHOWN_AT_MOST })}
            />
          )}
        </PolledView>
        {closing ? (
          <ClosePositionDialog
            {...closing}
            current={currentOf(closing.position)}
            onClose={() => setClosing(null)}
          />
        ) : null}
        {closingAll.length > 0 ? (
          <ClosePositionsDialog positions={closingAll} onClose={() => setClosingAll([])} />
        ) : null}
        {moving ? (
          <MoveProtectionDialog
            position={moving}
            current={currentOf(moving)}
            onClose={() => setMoving(null)}
          />
        ) : null}
      </Page>
    </Split>
  );
}

const tokensOf = (ofSignals: string[] = [], answer?: PositionsAnswer) =>
  [...new Set([...ofSignals, ...(answer?.perToken ?? []).map(({ token }) => token)])].sort();

interface PositionsProps {
  answer: PositionsAnswer;
  /** The data belongs to the previous filters. */
  faded: boolean;
  group: PositionsGroup | undefined;
  onGroup: (group: PositionsGroup | undefined) => void;
  onClose: (position: OpenPositionView, percent: number) => void;
  onMove: (position: OpenPositionView) => void;
  /** The id of the position whose panel is shown. */
  opened: string | undefined;
  onPanel: (position: OpenPositionView) => void;
  onCloseAll: (positions: readonly OpenPositionView[]) => void;
  exportButton: ReactNode;
  /** Shows more closed positions. */
  onMore: () => void;
}

function Positions({
  answer,
  faded,
  group,
  onGroup,
  onClose,
  onMove,
  opened,
  onPanel,
  onMore,
  onCloseAll,
  exportButton,
}: PositionsProps) {
  const { open, closed, closedCount, totals, perUser, perToken, cumulativeProfit, unreachable } = answer;
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  // Stays: its question may be open when the last account is readable again.
  const [wasUnreachable, setWasUnreachable] = useState(false);
  const showsUnreachable = wasUnreachable || unreachable.length > 0;
  if (showsUnreachable !== wasUnreachable) setWasUnreachable(true);
  const chosen = open.filter((position) => selected.has(positionId(position)));
  // A position that was closed meanwhile is not selected any more, nor is the next one in its place.
  if (chosen.length < selected.size) setSelected(new Set(chosen.map(positionId)));
  return (
    <>
      {showsUnreachable ? <UnreachableAccounts accounts={unreachable} /> : null}
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
      <Panel
        flush
        title="Open Positions"
        aside={
          chosen.length === 0 ? (
            <GroupSwitch group={group} onGroup={onGroup} />
          ) : (
            <div className={classes.selected}>
              <span>{formatCount(chosen.length)} selected</span>
              <Button size="xs" variant="default" onClick={() => setSelected(new Set())}>
                Clear
              </Button>
              <Button size="xs" color="red" variant="light" onClick={() => onCloseAll(chosen)}>
                Close {formatCount(chosen.length)}...
              </Button>
            </div>
          )
        }
      >
        <OpenPositions
          selected={selected}
          onSelect={(positions) => setSelected(new Set(positions.map(positionId)))}
          rows={open}
          faded={faded}
          group={group}
          onClose={onClose}
          onMove={onMove}
          opened={opened}
          onPanel={onPanel}
        />
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
          <div className={classes.selected}>
            {closed.length < Math.min(closedCount, CLOSED_SHOWN_AT_MOST) ? (
              <Button size="xs" variant="default" onClick={onMore}>
                Show more
              </Button>
            ) : null}
            {closedCount > 0 ? exportButton : null}
          </div>
        }
      >
        <ClosedPositions rows={closed} faded={faded} />
      </Panel>
    </>
  );
}

const GROUPS = [
  [undefined, 'All'],
  ['token', 'Token'],
  ['user', 'User'],
  ['strategy', 'Strategy'],
] as const;

function GroupSwitch({ group, onGroup }: Pick<PositionsProps, 'group' | 'onGroup'>) {
  return (
    <Button.Group aria-label="Group by">
      {GROUPS.map(([value, label]) => (
        <Button
          key={label}
          size="xs"
          variant={value === group ? 'light' : 'default'}
          aria-pressed={value === group}
          onClick={() => onGroup(value)}
        >
          {label}
        </Button>
      ))}
    </Button.Group>
  );
}
