import type { UseQueryResult } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { SignalStats } from '#contract/signals.ts';
import { formatCount } from '../../lib/format.ts';
import { ErrorBanner } from '../../ui/states.tsx';
import classes from './signal-stats.module.css';

const SignalSparkline = lazy(() =>
  import('./signal-sparkline.tsx').then((loaded) => ({ default: loaded.SignalSparkline })),
);

const CARDS = [
  { key: 'totalSignals', label: 'Total Signals', look: '' },
  { key: 'todaySignals', label: "Today's Signals", look: '' },
  { key: 'buySignals', label: 'Buy Signals', look: 'buy' },
  { key: 'sellSignals', label: 'Sell Signals', look: 'sell' },
] as const;

export function SignalStatCards({ stats }: { stats: UseQueryResult<SignalStats> }) {
  return (
    <>
      {stats.isError ? (
        <ErrorBanner
          title="Failed to fetch stats"
          error={stats.error}
          onRetry={() => void stats.refetch()}
          retrying={stats.isFetching}
        />
      ) : null}
      <div className={classes.row}>
        <dl className={classes.cards}>
          {CARDS.map(({ key, label, look }) => (
            <div key={key} className={classes.card}>
              <dt>{label}</dt>
              <dd className={look}>{stats.data ? formatCount(stats.data[key]) : '–'}</dd>
            </div>
          ))}
        </dl>
        <Suspense fallback={<div className={classes.card} />}>
          <SignalSparkline days={stats.data?.perDay} />
        </Suspense>
      </div>
    </>
  );
}
