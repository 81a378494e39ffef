import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactNode, useState } from 'react';
import type { PerformanceAnswer, ResultFiguresView, ResultGroup } from '#contract/performance.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import figures from '../../charts/picture.module.css';
import { formatMoney, formatProfit } from '../../lib/figures.ts';
import { capitalise, formatCount } from '../../lib/format.ts';
import { Profit } from '../../ui/profit.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';
import classes from './performance.module.css';
import { formatHolding, formatR } from './performance-format.ts';
import { GROUPS, type ResultQuery } from './performance-range.ts';

export interface BreakdownProps {
  answer: PerformanceAnswer;
  query: ResultQuery;
}

type Group = PerformanceAnswer['groups'][number];

const WEEKDAYS = ['', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const COLUMNS = [
  'Trades',
  'Win rate',
  'Net',
  'Gross',
  'Costs',
  'Profit factor',
  'Expectancy',
  'Max DD',
  'Avg. held',
];

/** Figures by group. Strategies and users open into their tokens; the total is the last row. */
export default function BreakdownTable({ answer, query }: BreakdownProps) {
  const { groupBy, groups, totals } = answer;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const name = GROUPS.find(({ group }) => group === groupBy)?.label ?? 'Group';
  const opensBy = groupBy === 'processor' || groupBy === 'user' ? groupBy : null;
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
            {COLUMNS.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
            <th
              scope="col"
              title="Fill against the signal's price in basis points, median and 95th percentile; positive is worse"
            >
              Slip p50/p95
            </th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
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
        <td colSpan={COLUMNS.length + 2}>
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
      <td>{of.winRate === null ? '–' : `${Number(of.winRate).toFixed(1)}%`}</td>
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
      <td>{signal.median === null ? '–' : `${signal.median} / ${signal.p95 ?? '–'}`}</td>
    </>
  );
}
