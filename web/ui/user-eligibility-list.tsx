import { Button } from '@mantine/core';
import type { UserOutcome } from '#contract/outcome.ts';
import { capitalise, toNumber } from '../lib/format.ts';
import { Badge, type BadgeTone } from './badge.tsx';
import { Profit } from './profit.tsx';
import { EmptyState } from './states.tsx';
import { useReadableInstants } from './use-readable-instants.ts';
import classes from './user-eligibility-list.module.css';

interface Entry {
  id: string;
  username: string;
  status: string;
  reason: string;
  /** What became of the user, if the user was eligible. */
  outcome?: UserOutcome | null;
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
        {users.map(({ id, username, status, reason, outcome }) => (
          <li key={id}>
            <div className={classes.head}>
              <strong>{username || id}</strong>
              <span className={classes.aside}>
                {outcome ? <OutcomeBadge outcome={outcome} /> : null}
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
            {outcome ? <OutcomeLine outcome={outcome} /> : null}
            {reason ? <p>{readable(reason)}</p> : null}
          </li>
        ))}
      </ul>
    </>
  );
}

const OUTCOMES: Readonly<Record<string, { label: string; tone: BadgeTone }>> = {
  running: { label: 'Running', tone: 'info' },
  filled: { label: 'Filled', tone: 'success' },
  partial: { label: 'Partly filled', tone: 'warning' },
  not_filled: { label: 'Not filled', tone: 'failure' },
  skipped: { label: 'Skipped', tone: 'neutral' },
} satisfies Record<UserOutcome['kind'], { label: string; tone: BadgeTone }>;

const OutcomeBadge = ({ outcome: { kind } }: { outcome: UserOutcome }) => (
  <Badge tone={OUTCOMES[kind]?.tone ?? 'outline'}>{OUTCOMES[kind]?.label ?? kind}</Badge>
);

/** What became of a user, or that the user was not eligible. */
export const UserOutcomeBadge = ({ user }: { user: Entry }) =>
  user.outcome ? <OutcomeBadge outcome={user.outcome} /> : <EligibilityBadge status={user.status} />;

/** The fill of a user, or why there is none. */
export function UserOutcomeText({ user }: { user: Entry }) {
  const readable = useReadableInstants();
  if (user.outcome) return <OutcomeLine outcome={user.outcome} />;
  return user.reason ? <p>{readable(user.reason)}</p> : null;
}

/** Two decimals would show the price of a cheap token as zero. */
const fillPrice = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 12 });

/** The size and price of the fill, what a closed position brought, or why there is neither. */
function OutcomeLine({ outcome }: { outcome: UserOutcome }) {
  const readable = useReadableInstants();
  const { reason, token, filledQuantity, averagePrice, net } = outcome;
  if (reason) return <p className={classes.outcome}>{readable(reason)}</p>;
  if (net) {
    return (
      <p className={classes.outcome}>
        Closed, net <Profit amount={net} />
      </p>
    );
  }
  if (!filledQuantity) return null;
  const price = toNumber(averagePrice);
  return (
    <p className={classes.outcome}>
      {filledQuantity} {token}
      {price === null ? '' : ` at $${fillPrice.format(price)}`}
    </p>
  );
}

/** 'Eligible' or 'Not eligible'; other statuses are shown as received. */
export function EligibilityBadge({ status }: { status: string }) {
  const label = status === 'eligible' || status === 'not eligible' ? capitalise(status) : status;
  return <Badge tone={status === 'eligible' ? 'accent' : 'neutral'}>{label}</Badge>;
}
