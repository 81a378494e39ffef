import { Button, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { CalendarAnswer, PerformanceAnswer, ResultChoices } from '#contract/performance.ts';
import { ExportButton } from '#web/lists/export-button.tsx';
import { FilterSelect } from '#web/lists/filter-select.tsx';
import { formatMoney, formatProfit } from '../../lib/figures.ts';
import { formatCount } from '../../lib/format.ts';
import { useSession } from '../../lib/session.ts';
import { FailedQueries } from '../../ui/failed-queries.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Profit } from '../../ui/profit.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { StatCards } from '../../ui/stat-cards.tsx';
import { EmptyState } from '../../ui/states.tsx';
import classes from './performance.module.css';
import { filledOf, formatPercent, formatR } from './performance-format.ts';
import { daysOf, GROUPS, RANGES, type ResultQuery, resultQuery, today } from './performance-range.ts';
import type { PerformanceSearch } from './performance-search.ts';

const Breakdown = lazily<import('./breakdown-table.tsx').BreakdownProps>(
  () => import('./breakdown-table.tsx'),
);
const Charts = lazily<import('./performance-charts.tsx').ChartsProps>(
  () => import('./performance-charts.tsx'),
);
const Distribution = lazily<import('./r-distribution.tsx').DistributionProps>(
  () => import('./r-distribution.tsx'),
);
const EquityOfRange = lazily<import('./equity-of-range.tsx').EquityOfRangeProps>(
  () => import('./equity-of-range.tsx'),
);
const StatementsPanel = lazily<{ userId: string | undefined }>(
  () => import('#web/lists/statements-panel.tsx'),
);
const StatementArchives = lazily(() => import('./statement-archives.tsx'));
const ClosedTrades = lazily<import('./closed-trades.tsx').ClosedTradesProps>(
  () => import('./closed-trades.tsx'),
);

interface PerformanceScreenProps {
  search: PerformanceSearch;
  onSearch: (change: PerformanceSearch) => void;
}

export function PerformanceScreen({ search, onSearch }: PerformanceScreenProps) {
  const { displayTimezone: timeZone } = useSession();
  const day = today(new Date(), timeZone);
  // Changes at midnight only: a query key that moves with the clock would fetch without end.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the day stands for the clock
  const query = useMemo(() => resultQuery(search, { now: new Date(), timeZone }), [search, day, timeZone]);
  const { first, last } = daysOf(search, { now: new Date(), timeZone });
  const groupBy = GROUPS.find(({ by }) => by === search.by)?.group ?? 'processor';
  const results = useQuery<PerformanceAnswer>({
    queryKey: ['/api/performance', { ...query, groupBy }],
    placeholderData: keepPreviousData,
  });
  const calendar = useQuery<CalendarAnswer>({
    queryKey: ['/api/performance/calendar', query],
    placeholderData: keepPreviousData,
  });
  const change = (to: PerformanceSearch) => onSearch({ ...to, page: undefined });

  return (
    <Page
      title="Performance"
      subtitle="Closed trades, net of fees and funding (costs)"
      actions={<Filters search={search} first={first} last={last} onSearch={change} query={query} />}
    >
      <QueryView query={results} errorTitle="Failed to fetch the performance">
        {(answer) => (
          <div className={classes.screen} aria-busy={results.isPlaceholderData || undefined}>
            <Tiles totals={answer.totals} />
            <UnknownNotice totals={answer.totals} />
            <EquityOfRange query={query} />
            {answer.totals.trades === 0 ? (
              <EmptyState>
                No trade was closed in this range. Choose a longer range, or wait until an open position
                closes.
              </EmptyState>
            ) : (
              <>
                <QueryView query={calendar} errorTitle="Failed to fetch the net of each day">
                  {({ days, daysUp, daysDown }) => (
                    <Charts
                      days={days}
                      daysUp={daysUp}
                      daysDown={daysDown}
                      first={first}
                      last={last}
                      today={day}
                    />
                  )}
                </QueryView>
                <div className={`${classes.columns} ${classes.tables}`}>
                  <Panel
                    flush
                    title="Breakdown"
                    aside={
                      <>
                        <GroupChips by={search.by} onBy={(by) => onSearch({ by })} />
                        <ExportButton
                          name={`performance-by-${groupBy}`}
                          label="Export breakdown"
                          errorTitle="Failed to fetch the breakdown"
                          createSource={async () =>
                            (await import('./performance-csv.ts')).breakdownCsv({ ...query, groupBy })
                          }
                        />
                      </>
                    }
                  >
                    <Breakdown answer={answer} query={query} />
                  </Panel>
                  <Distribution totals={answer.totals} />
                </div>
                <ClosedTrades search={search} query={query} onSearch={onSearch} />
              </>
            )}
            <StatementsPanel userId={search.userId} />
            <StatementArchives />
          </div>
        )}
      </QueryView>
    </Page>
  );
}

interface FiltersProps {
  search: PerformanceSearch;
  first: string | undefined;
  last: string | undefined;
  query: ResultQuery;
  onSearch: (change: PerformanceSearch) => void;
}

function Filters({ search, first, last, query, onSearch }: FiltersProps) {
  const choices = useQuery<ResultChoices>({ queryKey: ['/api/performance/choices'] });
  const { users = [], processors = [], tokens = [] } = choices.data ?? {};
  const isPicked = search.fromDay !== undefined || search.toDay !== undefined;
  return (
    <>
      <FailedQueries queries={[{ title: 'Failed to fetch the choices', query: choices }]} />
      <Button.Group aria-label="Range">
        {RANGES.map(({ range, label }) => {
          const isChosen = !isPicked && search.range === range;
          return (
            <Button
              key={label}
              size="xs"
              variant={isChosen ? 'light' : 'default'}
              aria-pressed={isChosen}
              onClick={() => onSearch({ range, fromDay: undefined, toDay: undefined })}
            >
              {label}
            </Button>
          );
        })}
      </Button.Group>
      <DayInput
        label="First day"
        value={first}
        max={last}
        onChange={(fromDay) => onSearch({ fromDay, toDay: last })}
      />
      <DayInput
        label="Last day"
        value={last}
        min={first}
        onChange={(toDay) => onSearch({ fromDay: first, toDay })}
      />
      <FilterSelect
        label="User"
        allLabel="All users"
        value={search.userId}
        options={users.map(({ id, username }) => ({ value: id, label: username }))}
        onChange={(userId) => onSearch({ userId })}
      />
      <FilterSelect
        label="Strategy"
        allLabel="All strategies"
        value={search.processor}
        options={processors}
        onChange={(processor) => onSearch({ processor })}
      />
      <FilterSelect
        label="Token"
        allLabel="All tokens"
        value={search.token}
        options={tokens}
        onChange={(token) => onSearch({ token })}
      />
      <ExportButton
        name="closed-trades"
        errorTitle="Failed to fetch closed trades"
        createSource={async (timeZone) =>
          (await import('./performance-csv.ts')).closedTradesCsv(query, timeZone)
        }
      />
    </>
  );
}

interface DayInputProps {
  label: string;
  value: string | undefined;
  min?: string | undefined;
  max?: string | undefined;
  onChange: (day: string | undefined) => void;
}

function DayInput({ label, value, min, max, onChange }: DayInputProps) {
  return (
    <TextInput
      type="date"
      size="xs"
      aria-label={label}
      value={value ?? ''}
      min={min}
      max={max}
      // While a day is being typed the field is empty; only whole days change the range.
      onChange={({ currentTarget }) => {
        if (currentTarget.value !== '' && currentTarget.validity.valid) onChange(currentTarget.value);
      }}
    />
  );
}

type Totals = PerformanceAnswer['totals'];

function Tiles({ totals }: { totals: Totals }) {
  const { trades, wins, net, gross, fees, funding, unknown } = totals;
  const known = trades - unknown.net;
  return (
    <StatCards
      cards={[
        { label: 'Net after fees', value: <Profit amount={net} />, detail: `gross ${formatProfit(gross)}` },
        {
          label: 'Win rate',
          value: formatPercent(totals.winRate),
          detail: `${formatCount(wins)} of ${formatCount(known)} trades`,
        },
        { label: 'Fill rate', value: formatPercent(totals.fillRate), detail: filledOf(totals) },
        {
          label: 'Profit factor',
          value: totals.profitFactor === null ? '–' : Number(totals.profitFactor).toFixed(2),
          detail: 'wins ÷ losses, net',
        },
        {
          label: 'Expectancy',
          value: formatR(totals.expectancyR),
          detail:
            totals.averageNet === null ? 'no known result' : `${formatProfit(totals.averageNet)} a trade`,
        },
        {
          label: 'Max drawdown',
          value: <Profit amount={Number(totals.maxDrawdown) === 0 ? '0' : `-${totals.maxDrawdown}`} />,
          detail: 'from the highest net in the range',
        },
        {
          label: 'Costs',
          value: formatMoney(String(Number(fees) - Number(funding))),
          detail: `fees ${formatMoney(fees)}, funding ${formatProfit(funding)}`,
        },
      ]}
    />
  );
}

/** Sums that leave out trades say so. */
function UnknownNotice({ totals: { unknown } }: { totals: Totals }) {
  const parts = [
    unknown.net > 0
      ? `${trades(unknown.net)} not in net, because the exchange has not told how the position ended`
      : '',
    unknown.funding > unknown.net
      ? `funding of ${trades(unknown.funding)} is unknown, so gross and funding leave them out`
      : '',
    unknown.r > unknown.net ? `R of ${trades(unknown.r)} is unknown` : '',
  ].filter(Boolean);
  return parts.length === 0 ? null : (
    <Notice look="warning">Not everything is known: {parts.join('; ')}.</Notice>
  );
}

const trades = (count: number) => (count === 1 ? '1 trade' : `${formatCount(count)} trades`);

function GroupChips({
  by,
  onBy,
}: {
  by: PerformanceSearch['by'];
  onBy: (by: PerformanceSearch['by']) => void;
}) {
  return (
    <Button.Group aria-label="Group by" className={classes.groups}>
      {GROUPS.map(({ by: value, label }) => (
        <Button
          key={label}
          size="xs"
          variant={value === by ? 'light' : 'default'}
          aria-pressed={value === by}
          onClick={() => onBy(value)}
        >
          {label}
        </Button>
      ))}
    </Button.Group>
  );
}
