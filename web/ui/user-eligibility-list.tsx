import { Badge } from './badge.tsx';
import { EmptyState } from './states.tsx';
import classes from './user-eligibility-list.module.css';

interface Entry {
  id: string;
  username: string;
  status: string;
  reason: string;
}

export function UserEligibilityList({ users, emptyText }: { users: readonly Entry[]; emptyText: string }) {
  if (users.length === 0) return <EmptyState>{emptyText}</EmptyState>;
  const eligibleCount = users.filter(({ status }) => status === 'eligible').length;
  return (
    <>
      <p className={classes.summary}>
        {eligibleCount} of {users.length} users eligible
      </p>
      <ul className={classes.list}>
        {users.map(({ id, username, status, reason }) => (
          <li key={id}>
            <div className={classes.head}>
              <strong>{username || id}</strong>
              <Badge tone={status === 'eligible' ? 'success' : 'neutral'}>
                {status === 'eligible' ? 'Eligible' : 'Not eligible'}
              </Badge>
            </div>
            {reason ? <p>{reason}</p> : null}
          </li>
        ))}
      </ul>
    </>
  );
}
