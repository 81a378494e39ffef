import type { ReactNode } from 'react';
import { useOverview } from '../../features/dashboard/overview-data.ts';
import { formatMoney } from '../../lib/figures.ts';
import { formatCount, toNumber } from '../../lib/format.ts';
import { useSession } from '../../lib/session.ts';
import { Profit } from '../../ui/profit.tsx';
import classes from './day-figures.module.css';

/** On every screen: whether the day makes money, and what all stops would lose. Dashes until it is known. */
export default function DayFigures() {
  const { isAdmin } = useSession().user;
  const { data } = useOverview({ isAdmin, everyMs: 30_000 });
  return (
    <dl className={classes.figures} aria-label="Figures of the day">
      <div>
        <dt>Net today</dt>
        <dd>
          {data === undefined ? '–' : <Profit amount={data.netToday.amount} />}
          {data === undefined || !(data.netToday.unknown > 0) ? null : (
            <Gap>{formatCount(data.netToday.unknown)} unknown</Gap>
          )}
        </dd>
      </div>
      <div className={classes.risk}>
        <dt>Open risk to stops</dt>
        <dd>
          {data === undefined ? (
            '–'
          ) : (
            <>
              {formatMoney(data.open.riskToStops)} <RiskNote {...data} />
            </>
          )}
        </dd>
      </div>
    </dl>
  );
}

/** What the sum leaves out, else its share of the equity. */
function RiskNote({
  open,
  equity,
}: Pick<NonNullable<ReturnType<typeof useOverview>['data']>, 'open' | 'equity'>) {
  if (open.withoutStop > 0) return <Gap>{formatCount(open.withoutStop)} without a stop</Gap>;
  if (open.unread > 0) return <Gap>{formatCount(open.unread)} unread</Gap>;
  const share = (toNumber(open.riskToStops) ?? Number.NaN) / (toNumber(equity) ?? Number.NaN);
  return Number.isFinite(share) ? <small>{(share * 100).toFixed(2)}%</small> : null;
}

const Gap = ({ children }: { children: ReactNode }) => <small data-gap>{children}</small>;
