import { IconBell } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { NotificationsAnswer } from '#contract/notifications.ts';
import { useAttention } from '../../lib/attention.ts';
import { useSession } from '../../lib/session.ts';
import { criticalConditions } from '../../lib/use-document-title.ts';
import { lazily } from '../../ui/lazily.tsx';
import classes from './bell.module.css';
import { NOTIFICATIONS } from './notifications-path.ts';

const Inbox = lazily(() => import('./inbox.tsx'));

const MOST_SHOWN = 99;
const most = (count: number) => (count > MOST_SHOWN ? `${MOST_SHOWN}+` : String(count));

/**
 * For administrators the number of conditions that need attention, for others that of unread notices, and the inbox
 * below it. All other code comes with the inbox: every page loads this.
 */
export function Bell() {
  const { isAdmin } = useSession().user;
  const [opened, setOpened] = useState(false);
  const { data, isError } = useQuery<NotificationsAnswer>({
    queryKey: [NOTIFICATIONS, { unread: 'true', limit: 1 }],
    // Live changes come by event; the poll is for a stream that is down.
    staleTime: 0,
    refetchInterval: 60_000,
  });
  const attention = useAttention({ enabled: isAdmin === true });
  const conditions = attention.data?.conditions ?? [];
  const critical = conditions.filter(({ severity }) => severity === 'critical').length;
  useEffect(() => {
    criticalConditions.set(critical);
    return () => criticalConditions.set(0);
  }, [critical]);
  const unread = data?.total ?? 0;
  const isUnreadUnknown = isError || !Number.isFinite(unread);
  const shown = isAdmin
    ? { count: conditions.length, isUnknown: attention.isError }
    : { count: unread, isUnknown: isUnreadUnknown };
  const names = [
    ...(isAdmin
      ? [
          attention.isError
            ? 'what needs attention is not known'
            : `${conditions.length} ${conditions.length === 1 ? 'needs' : 'need'} attention`,
        ]
      : []),
    isUnreadUnknown ? 'the number of unread ones is not known' : `${unread} unread`,
  ];
  return (
    <div className={classes.root}>
      <button
        type="button"
        className={classes.button}
        aria-label={`Notifications, ${names.join(', ')}`}
        aria-haspopup="dialog"
        aria-expanded={opened}
        data-tip={opened ? undefined : `Notifications: ${names.join(', ')}`}
        onClick={() => setOpened(!opened)}
      >
        <IconBell size={16} aria-hidden />
        {shown.isUnknown || shown.count > 0 ? (
          <span className={classes.count}>{shown.isUnknown ? '?' : most(shown.count)}</span>
        ) : unread > 0 ? (
          <span className={classes.dot} />
        ) : null}
      </button>
      {opened ? <Inbox unread={unread} conditions={conditions} onClose={() => setOpened(false)} /> : null}
    </div>
  );
}
