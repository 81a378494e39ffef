import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactNode, useState } from 'react';
import type { PerformanceAnswer, ResultFiguresView, ResultGroup } from '#contract/performance.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { ariaSort, SortHead, type Sorting } from '#web/lists/sort-head.tsx';
import figures from '../../charts/picture.module.css';
import { formatMoney, formatProfit } from '../../lib/figures.ts';
import { capitalise, formatCount } from '../../lib/format.ts';
import { Profit } from '../../ui/profit.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';
import classes from './performance.module.css';
import { filledOf, formatHolding, formatPercent, formatR } from './performance-format.ts';
import { GROUPS, type ResultQuery } from './performance-range.ts';

export interface BreakdownProps {
  answer: PerformanceAnswer;
  query: ResultQuery;
}

type Group = PerformanceAnswer['groups'][number];

const WEEKDAYS = ['', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const figure = (text: string | null) => (text === null ? null : Number(text));
/** What a column sorts by; null, which is last in either order, where a group has no such figure. */
const COLUMNS: readonly { name: string; title?: string; value: (of: Group) => number | null }[] = [
  { name: 'Trades', value: ({ trades }) => trades },
  { name: 'Win rate', value: ({ winRate }) => figure(winRate) },
  { name: 'Net', value: ({ net }) => figure(net) },
  { name: 'Gross', value: ({ gross }) => figure(gross) },
  { name: 'Costs', value: ({ fees, funding }) => Number(fees) - Number(funding) },
  { name: 'Profit factor', value: ({ profitFactor }) => figure(profitFactor) },
  { name: 'Expectancy', value: ({ expectancyR }) => figure(expectancyR) },
  { name: 'Max DD', value: ({ maxDrawdown }) => figure(maxDrawdown) },
  { name: 'Avg. held', value: ({ averageHoldingMinutes }) => figure(averageHoldingMinutes) },
  {
    name: 'Fill rate',
    title: 'Of the orders that were begun in the range: how many were filled, wholly or partly',
    value: ({ fillRate }) => figure(fillRate),
  },
  {
    name: 'Slip p50/p95',
    title: "Fill against the signal's price in basis points, median and 95th percentile; positive is worse",
    value: ({ slippageBps }) => figure(slippageBps.signal.median),
  },
];

type Sorted = Pick<Sorting, 'sort' | 'order'>;

function sortGroups(groups: readonly Group[], sorted: Sorted | null): readonly Group[] {
  const value = COLUMNS.find(({ name }) => name === sorted?.sort)?.value;
  if (value === undefined) return groups;
  const sign = sorted?.order === 'asc' ? 1 : -1;
  return groups.toSorted((a, b) => {
    const [left, right] = [value(a), value(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return sign * (left - right);
  });
}

/** Figures by group. Strategies and users open into their tokens; the total is the last row. */
export default function BreakdownTable({ answer, query }: BreakdownProps) {
  const { groupBy, groups, totals } = answer;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const name = GROUPS.find(({ group }) => group === groupBy)?.label ?? 'Group';
  const opensBy = groupBy === 'processor' || groupBy === 'user' ? groupBy : null;
  // Until a head is pressed: in the order of the answer.
  const [sorted, setSorted] = useState<Sorted | null>(null);
  const sorting: Sorting = {
    sort: '',
    order: 'desc',
    ...sorted,
    // Figures begin with the highest.
    onSort: (sort) =>
      setSorted({ sort, order: sorted?.sort === sort && sorted.order === 'desc' ? 'asc' : 'desc' }),
  };
  const toggle = (key: string) => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className={classes.tableRegion} aria-label={`Breakdown by ${name.toLowerCase()}`} tabIndex={0}>
      <table
        className={`${figures.table} ${classes.breakdown}`}
        aria-label={`Breakdown by ${name.toLowerCase()}`}
      >
        <thead>
          <tr>
            <th scope="col">{name}</th>
            {COLUMNS.map(({ name: column, title }) => (
              <th key={column} scope="col" title={title} aria-sort={ariaSort(sorting, column)}>
                <SortHead header={column} column={column} sorting={sorting} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sortGroups(groups, sorted).map((group) => (
            <Fragment key={group.key}>
              <tr data-group={opensBy ?? undefined}>
                <th scope="row">
                  {opensBy === null ? (
                    <Name group={groupBy} of={group} />
                  ) : (
                    <button
                      type="button"
                      className={classes.toggle}
                      aria-expanded={open.has(group.key)}
                      onClick={() => toggle(group.key)}
                    >
                      <span aria-hidden>{open.has(group.key) ? '▾' : '▸'}</span> {group.label}
                    </button>
                  )}
                </th>
                <Figures of={group} />
              </tr>
              {opensBy !== null && open.has(group.key) ? (
                <Tokens
                  query={{
                    ...query,
                    ...(opensBy === 'user' ? { userId: group.key } : { processor: group.key }),
                  }}
                />
              ) : null}
            </Fragment>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <Figures of={totals} />
          </tr>
        </tfoot>
      </table>
    </section>
  );
}

function Tokens({ query }: { query: ResultQuery }) {
  const tokens = useQuery<PerformanceAnswer>({
    queryKey: ['/api/performance', { ...query, groupBy: 'token' }],
  });
  if (tokens.data === undefined) {
    return (
      <tr>
        <td colSpan={COLUMNS.length + 1}>
          {tokens.isError ? (
            <>
              Failed to fetch the tokens.{' '}
              <button type="button" className={classes.toggle} onClick={() => void tokens.refetch()}>
                Try again
              </button>
            </>
          ) : (
            'Loading...'
          )}
        </td>
      </tr>
    );
  }
  return tokens.data.groups.map((group) => (
    <tr key={group.key}>
      <th scope="row" className={classes.inner}>
        <TokenBadge token={group.key} />
      </th>
      <Figures of={group} />
    </tr>
  ));
}

function Name({ group, of: { key, label } }: { group: ResultGroup | null; of: Group }): ReactNode {
  switch (group) {
    case 'token':
      return <TokenBadge token={key} />;
    case 'timeframe':
      return displayTimeframe(key);
    case 'side':
      return capitalise(key);
    case 'hour':
      return `${key}:00`;
    case 'weekday':
      return WEEKDAYS[Number(key)] ?? key;
    default:
      return label;
  }
}

function Figures({ of }: { of: ResultFiguresView }) {
  const { signal } = of.slippageBps;
  const left = of.unknown.net;
  return (
    <>
      <td>{formatCount(of.trades)}</td>
      <td>{formatPercent(of.winRate)}</td>
      <td title={left > 0 ? `${left} of these trades are not in net: not known yet` : undefined}>
        <Profit amount={of.net} />
        {left > 0 ? '*' : ''}
      </td>
      <td className={classes.quiet}>{formatProfit(of.gross)}</td>
      <td className={classes.quiet}>{formatMoney(String(Number(of.fees) - Number(of.funding)))}</td>
      <td>{of.profitFactor === null ? '–' : Number(of.profitFactor).toFixed(2)}</td>
      <td>{formatR(of.expectancyR)}</td>
      <td>{Number(of.maxDrawdown) === 0 ? '$0.00' : `−${formatMoney(of.maxDrawdown)}`}</td>
      <td>{formatHolding(of.averageHoldingMinutes)}</td>
      <td title={of.orders > 0 ? filledOf(of) : undefined}>{formatPercent(of.fillRate)}</td>
      <td>{signal.median === null ? '–' : `${signal.median} / ${signal.p95 ?? '–'}`}</td>
    </>
  );
}
