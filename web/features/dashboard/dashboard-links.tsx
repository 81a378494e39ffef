import { IconChevronRight, IconSettings, IconShieldLock } from '@tabler/icons-react';
import { useSession } from '../../lib/session.ts';
import { PlainLink } from '../../ui/link.tsx';
import classes from './dashboard.module.css';

/** Where the dashboard leads to, and the state of the session, in one line. */
export function DashboardLinks() {
  const { user } = useSession();
  return (
    <div className={classes.links}>
      <PlainLink
        to="/settings"
        className={classes.link}
        data-tip="How positions are sized for you, your exchange and your password"
      >
        <IconSettings size={16} aria-hidden /> User Settings <IconChevronRight size={14} aria-hidden />
      </PlainLink>
      {user.isAdmin ? (
        <PlainLink
          to="/admin"
          className={classes.link}
          data-tip="Signals, workflows, users and configuration"
        >
          <IconShieldLock size={16} aria-hidden /> Admin Dashboard <IconChevronRight size={14} aria-hidden />
        </PlainLink>
      ) : null}
      <dl className={classes.status} aria-label="System Status">
        {[
          ['System', 'Online'],
          ['Session', 'Active'],
          ['Access Level', user.isAdmin ? 'Admin' : 'User'],
        ].map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
