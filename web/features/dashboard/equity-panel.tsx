import { Button } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import type { OverviewAnswer } from '#contract/overview.ts';
import type { EquityAnswer } from '#contract/performance.ts';
import { useAsTable } from '#web/charts/as-table.tsx';
import { EquityPicture } from '#web/charts/equity-picture.tsx';
import { formatMoney } from '../../lib/figures.ts';
import { formatCount } from '../../lib/format.ts';
import { usePoll } from '../../lib/live/live-context.tsx';
import { useSession } from '../../lib/session.ts';
import { useChangeSearch } from '../../lib/use-change-search.ts';
import { Panel } from '../../ui/panel.tsx';
import { Profit } from '../../ui/profit.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { RANGES, startOf } from './dashboard-range.ts';
import type { DashboardSearch } from './dashboard-search.ts';
import classes from './overview.module.css';

/** Recorded once an hour, and after the end of a position, which is announced. */
const REFRESH_MS = 5 * 60_000;

/** What the accounts are worth, and were. */
export function EquityPanel({ overview, own = false }: { overview: OverviewAnswer; own?: boolean }) {
  const { displayTimezone } = useSession();
  const { range } = useSearch({ from: '/' });
  const changeSearch = useChangeSearch<DashboardSearch>();
  const { asTable, toggle } = useAsTable();
  const equity = useQuery<EquityAnswer>({
    queryKey: ['/api/performance/equity', { from: startOf(range, displayTimezone) }],
    staleTime: 0,
    refetchInterval: usePoll(REFRESH_MS),
    placeholderData: keepPreviousData,
  });
  const accounts = overview.accounts.length;
  return (
    <Panel
      title={
        own ? 'Your equity' : `Equity of ${formatCount(accounts)} ${accounts === 1 ? 'account' : 'accounts'}`
      }
      aside={
        <>
          <Button.Group aria-label="Range of equity and results">
            {RANGES.map(({ range: value, label }) => (
              <Button
                key={label}
                size="compact-xs"
                variant={value === range ? 'light' : 'default'}
                aria-pressed={value === range}
                onClick={() => changeSearch({ range: value }, { replace: true })}
              >
                {label}
              </Button>
            ))}
          </Button.Group>
          {toggle}
        </>
      }
    >
      <QueryView query={equity} errorTitle="Failed to fetch the equity">
        {(answer) => (
          <div aria-busy={equity.isPlaceholderData || undefined}>
            <Headline overview={overview} answer={answer} />
            {answer.points.length < 2 ? (
              <EmptyState>
                Equity is recorded once an hour. The picture begins with the second record of this range.
              </EmptyState>
            ) : (
              <EquityPicture answer={answer} asTable={asTable} />
            )}
          </div>
        )}
      </QueryView>
    </Panel>
  );
}

function Headline({ overview, answer }: { overview: OverviewAnswer; answer: EquityAnswer }) {
  const [first, last] = [answer.points[0], answer.points.at(-1)];
  const unknown = overview.accounts.filter(({ equity }) => equity === null).length;
  const share = first && last ? Number(last.change) / Number(first.equity) : Number.NaN;
  return (
    <p className={classes.headline}>
      <strong>{formatMoney(overview.equity)}</strong>
      {first && last && first !== last ? (
        <span>
          <Profit amount={last.change} />{' '}
          {Number.isFinite(share) ? `(${(share * 100).toFixed(2).replace('-', '−')}%) ` : null}
          <span className={classes.quiet}>
            {answer.deposits === 'none'
              ? 'in this range'
              : 'in this range, deposits and withdrawals included'}
          </span>
        </span>
      ) : null}
      {unknown > 0 ? (
        <span className={classes.quiet}>
          without {formatCount(unknown)} {unknown === 1 ? 'account' : 'accounts'} whose equity is not known
        </span>
      ) : null}
    </p>
  );
}
