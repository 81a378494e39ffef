import type { StrategyView } from '#contract/strategies.ts';
import { formatCount } from '../../lib/format.ts';
import { Link } from '../../ui/link.tsx';
import classes from './strategies.module.css';

const MOST_DISCS = 8;

/** Who follows the strategy; the names stand in the tips of the discs. Amber: not trading. */
export function Subscribers({ strategy: { processor, subscribers } }: { strategy: StrategyView }) {
  const off = subscribers.filter(({ trades }) => !trades).length;
  const count = subscribers.length;
  // Those that do not trade first: they must not be among those left out.
  const shown = subscribers.toSorted((a, b) => Number(a.trades) - Number(b.trades)).slice(0, MOST_DISCS);
  return (
    <div className={classes.subscribers}>
      {shown.length === 0 ? null : (
        <ul aria-label={`Subscribers of ${processor}`}>
          {shown.map(({ username, trades }) => {
            const name = trades ? username : `${username}: trading off or paused`;
            return (
              <li key={username} data-off={trades ? undefined : ''} data-tip={name} aria-label={name}>
                {username.slice(0, 2).toLowerCase()}
              </li>
            );
          })}
        </ul>
      )}
      <span>
        {count === 0 ? 'Nobody follows it' : `${formatCount(count)} ${count === 1 ? 'user' : 'users'}`}
        {off > 0 ? `, ${formatCount(off)} with trading off or paused` : ''}
      </span>
      <Link to="/create-client" className={classes.manage}>
        Manage
      </Link>
    </div>
  );
}
