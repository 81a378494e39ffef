import type { UseQueryResult } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { SignalStats } from '#contract/signals.ts';
import { formatCount } from '../../lib/format.ts';
import { FailedQueries } from '../../ui/failed-queries.tsx';
import { StatCards } from '../../ui/stat-cards.tsx';
import classes from './signal-stats.module.css';

const SignalSparkline = lazy(() => import('./signal-sparkline.tsx'));

type Count = Exclude<keyof SignalStats, 'perDay'>;

export function SignalStatCards({ stats }: { stats: UseQueryResult<SignalStats> }) {
  const { data } = stats;
  const count = (name: Count) => (data ? formatCount(data[name]) : '–');
  return (
    <>
      <FailedQueries queries={[{ title: 'Failed to fetch stats', query: stats }]} />
      <div className={classes.row}>
        <StatCards
          cards={[
            { label: 'Total Signals', value: count('totalSignals') },
            { label: "Today's Signals", value: count('todaySignals') },
            { label: 'Buy Signals', value: <span className="buy">{count('buySignals')}</span> },
            { label: 'Sell Signals', value: <span className="sell">{count('sellSignals')}</span> },
          ]}
        />
        <Suspense fallback={null}>
          <SignalSparkline days={data?.perDay} />
        </Suspense>
      </div>
    </>
  );
}
