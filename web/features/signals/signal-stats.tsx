import { useQuery } from '@tanstack/react-query';
import type { SignalStats } from '#contract/signals.ts';
import { formatCount } from '../../lib/format.ts';
import { FailedQueries } from '../../ui/failed-queries.tsx';
import { StatCards } from '../../ui/stat-cards.tsx';
import { SignalSparkline } from './signal-sparkline.tsx';
import classes from './signal-stats.module.css';
import { signalsPath } from './signals-data.ts';

type Count = Exclude<keyof SignalStats, 'perDay'>;

export function SignalStatCards() {
  const stats = useQuery<SignalStats>({ queryKey: [`${signalsPath}/stats`] });
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
            { label: 'Buy Signals', value: count('buySignals') },
            { label: 'Sell Signals', value: count('sellSignals') },
          ]}
        />
        <SignalSparkline days={data?.perDay} />
      </div>
    </>
  );
}
