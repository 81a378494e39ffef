import type { PerformanceAnswer } from '#contract/performance.ts';
import { AsTable, useAsTable } from '../../charts/as-table.tsx';
import { withMinus } from '../../lib/figures.ts';
import { formatCount } from '../../lib/format.ts';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState } from '../../ui/states.tsx';
import classes from './performance.module.css';
import { formatR } from './performance-format.ts';

export interface DistributionProps {
  totals: PerformanceAnswer['totals'];
}

/** Trades by R, net ÷ planned loss at the stop. */
export default function RDistribution({ totals }: DistributionProps) {
  const { asTable, toggle } = useAsTable();
  const { distributionOfR: bars } = totals;
  const used = bars.flatMap(({ trades }, index) => (trades > 0 ? [index] : []));
  const shown = bars.slice(Math.max(0, (used[0] ?? 0) - 1), (used.at(-1) ?? 0) + 2);
  const highest = Math.max(1, ...shown.map(({ trades }) => trades));
  const count = bars.reduce((total, { trades }) => total + trades, 0);
  const ends = [bars[0]?.r, bars.at(-1)?.r];
  const name = (r: string) =>
    `${Number(r) > 0 ? '+' : ''}${withMinus(r)}${r === ends[0] ? ' or less' : r === ends[1] ? ' or more' : ''}`;
  return (
    <Panel title="Distribution of R" description={`${formatCount(count)} trades`} aside={toggle}>
      {count === 0 ? (
        <EmptyState>No trade with a known result and a planned stop</EmptyState>
      ) : asTable ? (
        <AsTable
          label="Distribution of R"
          head={['Result in R', 'Trades']}
          rows={shown.map(({ r, trades }) => [name(r), formatCount(trades)])}
        />
      ) : (
        <>
          <p className={classes.mean}>mean {formatR(totals.expectancyR)}</p>
          <div
            className={classes.bars}
            role="img"
            aria-label={`Trades by result in R: ${shown.map(({ r, trades }) => `${trades} at ${name(r)}`).join(', ')}`}
          >
            {shown.map(({ r, trades }) => (
              <div key={r} className={classes.barColumn} data-sign={Math.sign(Number(r))}>
                <span className={classes.barCount}>{trades > 0 ? formatCount(trades) : ''}</span>
                <span className={classes.rBar} style={{ height: `${(trades / highest) * 100}%` }} />
                <span className={classes.barName}>{`${Number(r) > 0 ? '+' : ''}${withMinus(r)}`}</span>
              </div>
            ))}
          </div>
          <p className={classes.caption}>result in R, net ÷ planned loss at the stop</p>
        </>
      )}
    </Panel>
  );
}
