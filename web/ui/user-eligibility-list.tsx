import { Button } from '@mantine/core';
import { capitalise } from '../lib/format.ts';
import { Badge } from './badge.tsx';
import { EmptyState } from './states.tsx';
import { useReadableInstants } from './use-readable-instants.ts';
import classes from './user-eligibility-list.module.css';

interface Entry {
  id: string;
  username: string;
  status: string;
  reason: string;
}

interface UserEligibilityListProps {
  users: readonly Entry[];
  emptyText: string;
  /** Opens the full explanation of one user. */
  onWhy?: (userId: string) => void;
}

export function UserEligibilityList({ users, emptyText, onWhy }: UserEligibilityListProps) {
  const readable = useReadableInstants();
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
              <span className={classes.aside}>
                <EligibilityBadge status={status} />
                {onWhy ? (
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Why, ${username || id}`}
                    onClick={() => onWhy(id)}
                  >
                    Why
                  </Button>
                ) : null}
              </span>
            </div>
            {reason ? <p>{readable(reason)}</p> : null}
          </li>
        ))}
      </ul>
    </>
  );
}

/** 'Eligible' or 'Not eligible'; other statuses are shown as received. */
export function EligibilityBadge({ status }: { status: string }) {
  const label = status === 'eligible' || status === 'not eligible' ? capitalise(status) : status;
  return <Badge tone={status === 'eligible' ? 'success' : 'neutral'}>{label}</Badge>;
}
