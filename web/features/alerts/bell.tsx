import { IconBell } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NotificationsAnswer } from '#contract/notifications.ts';
import { lazily } from '../../ui/lazily.tsx';
import classes from './bell.module.css';
import { NOTIFICATIONS } from './notifications-path.ts';

const Inbox = lazily(() => import('./inbox.tsx'));

const MOST_SHOWN = 99;

/** The number of unread notices, and the inbox below it. All other code comes with the inbox: every page loads this. */
export function Bell() {
  const [opened, setOpened] = useState(false);
  const { data, isError } = useQuery<NotificationsAnswer>({
    queryKey: [NOTIFICATIONS, { unread: 'true', limit: 1 }],
    // Live changes come by event; the poll is for a stream that is down.
    staleTime: 0,
    refetchInterval: 60_000,
  });
  const unread = data?.total ?? 0;
  const isUnknown = isError || !Number.isFinite(unread);
  const count = isUnknown ? '?' : unread > MOST_SHOWN ? `${MOST_SHOWN}+` : unread || null;
  return (
    <div className={classes.root}>
      <button
        type="button"
        className={classes.button}
        aria-label={`Notifications, ${isUnknown ? 'the number of unread ones is not known' : `${unread} unread`}`}
        aria-haspopup="dialog"
        aria-expanded={opened}
        data-tip={opened ? undefined : 'Notifications'}
        onClick={() => setOpened(!opened)}
      >
        <IconBell size={16} aria-hidden />
        {count === null ? null : <span className={classes.count}>{count}</span>}
      </button>
      {opened ? <Inbox unread={unread} onClose={() => setOpened(false)} /> : null}
    </div>
  );
}
