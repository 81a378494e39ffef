import { Badge } from '../../ui/badge.tsx';
import type { TradingUser } from './get-trading-user.ts';
import classes from './trading-user.module.css';

export function UserEntry({ user, ownId }: { user: TradingUser; ownId: string }) {
  return (
    <span className={classes.entry}>
      <span className={classes.name}>
        {user.username}
        {user.id === ownId ? ' (You)' : ''}
      </span>
      <span className={classes.badges}>
        <Badge tone={user.userActive ? 'success' : 'failure'}>
          {user.userActive ? 'Active' : 'Inactive'}
        </Badge>
        <Badge tone={user.activeTradingEnabled ? 'accent' : 'neutral'}>
          {user.activeTradingEnabled ? 'Trading On' : 'Trading Off'}
        </Badge>
      </span>
    </span>
  );
}
