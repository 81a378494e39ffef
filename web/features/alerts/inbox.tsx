import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react';
import type { AttentionCondition } from '#contract/attention.ts';
import type { Notification, NotificationsAnswer, ReadNotificationsBody } from '#contract/notifications.ts';
import { requestJson } from '../../lib/api-client.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { useAnchor } from '../../ui/use-anchor.ts';
import { useChange } from '../../ui/use-change.ts';
import classes from './inbox.module.css';
import { NOTIFICATIONS } from './notifications-path.ts';

const PAGE = 20;

/** Texts of severities of a newer server are their own names. */
const SEVERITIES: Readonly<Record<string, [label: string, tone: BadgeTone]>> = {
  info: ['Info', 'info'],
  warning: ['Warning', 'warning'],
  critical: ['Critical', 'failure'],
} satisfies Record<Notification['severity'], [label: string, tone: BadgeTone]>;

/** What was told lately, newest first. */
export default function Inbox(props: {
  unread: number;
  /** What needs attention now; it goes with its cause. */
  conditions: readonly AttentionCondition[];
  onClose: () => void;
}) {
  const { unread, conditions, onClose } = props;
  const root = useRef<HTMLDivElement>(null);
  useClosing(root, onClose);
  const [limit, setLimit] = useState(PAGE);
  const query = useQuery<NotificationsAnswer>({
    queryKey: [NOTIFICATIONS, { limit }],
    staleTime: 0,
    placeholderData: (before) => before,
  });
  const read = useChange<unknown, ReadNotificationsBody>({
    send: (body) => requestJson(`${NOTIFICATIONS}/read`, { method: 'POST', body }),
    failed: { otherwise: 'The notifications were not marked as read' },
    refresh: [NOTIFICATIONS],
  });
  return (
    <div ref={root} className={classes.panel} role="dialog" aria-label="Notifications">
      <div className={classes.head}>
        <h2 className={classes.title}>Notifications</h2>
        <Button
          size="compact-xs"
          variant="subtle"
          disabled={unread === 0 || read.isPending}
          onClick={() => read.mutate({ all: true })}
        >
          Mark all as read
        </Button>
        <AlertsLink onFollow={onClose} />
      </div>
      {conditions.length === 0 ? null : (
        <ul className={classes.conditions} aria-label="Needs attention">
          {conditions.map((condition) => (
            <Condition key={`${condition.code} ${condition.text}`} condition={condition} onFollow={onClose} />
          ))}
        </ul>
      )}
      <div className={classes.list}>
        <QueryView query={query} errorTitle="Failed to fetch notifications">
          {({ notifications, total }) =>
            notifications.length === 0 ? (
              <EmptyState>Nothing was told yet</EmptyState>
            ) : (
              <>
                <ul aria-label="Notifications">
                  {notifications.map((one) => (
                    <Item
                      key={one.id}
                      notification={one}
                      onFollow={() => {
                        if (!one.read) read.mutate({ ids: [one.id] });
                        onClose();
                      }}
                      onRead={() => read.mutate({ ids: [one.id] })}
                    />
                  ))}
                </ul>
                {total > notifications.length ? (
                  <Button
                    fullWidth
                    variant="subtle"
                    size="xs"
                    disabled={query.isFetching}
                    onClick={() => setLimit(limit + PAGE)}
                  >
                    {query.isFetching ? 'Loading...' : `Show more (${total - notifications.length})`}
                  </Button>
                ) : null}
              </>
            )
          }
        </QueryView>
      </div>
    </div>
  );
}

/** A click elsewhere or Escape closes it; Escape returns the focus to the bell. */
function useClosing(root: RefObject<HTMLDivElement | null>, onClose: () => void): void {
  const close = useEffectEvent(onClose);
  useEffect(() => {
    const bell = root.current?.parentElement;
    const closeFromOutside = (event: PointerEvent) => {
      if (!bell?.contains(event.target as Node)) close();
    };
    const closeByKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      close();
      bell?.querySelector('button')?.focus();
    };
    document.addEventListener('pointerdown', closeFromOutside);
    document.addEventListener('keydown', closeByKey);
    return () => {
      document.removeEventListener('pointerdown', closeFromOutside);
      document.removeEventListener('keydown', closeByKey);
    };
  }, [root]);
}

function AlertsLink({ onFollow }: { onFollow: () => void }) {
  const { href, onClick } = useAnchor('/alerts');
  return (
    <a
      className={classes.settings}
      href={href}
      onClick={(event) => {
        onClick(event);
        onFollow();
      }}
    >
      Channels
    </a>
  );
}

function Condition({ condition, onFollow }: { condition: AttentionCondition; onFollow: () => void }) {
  const { severity, text, link } = condition;
  const { href, onClick } = useAnchor(link ?? '/');
  const [label, tone] = SEVERITIES[severity] ?? [severity, 'neutral'];
  return (
    <li>
      <Badge tone={tone}>{label}</Badge>
      {link === null ? (
        <span className={classes.text}>{text}</span>
      ) : (
        <a
          className={classes.text}
          href={href}
          onClick={(event) => {
            onClick(event);
            onFollow();
          }}
        >
          {text}
        </a>
      )}
    </li>
  );
}

interface ItemProps {
  notification: Notification;
  onFollow: () => void;
  onRead: () => void;
}

function Item({ notification, onFollow, onRead }: ItemProps) {
  const { severity, at, text, link, read } = notification;
  const formatInstant = useFormatInstant();
  const { href, onClick } = useAnchor(link || '/');
  const [label, tone] = SEVERITIES[severity] ?? [severity, 'neutral'];
  return (
    <li data-unread={!read || undefined}>
      <span className={classes.meta}>
        <Badge tone={tone}>{label}</Badge>
        <time className={classes.time}>{formatInstant(at)}</time>
        {read ? null : (
          <button
            type="button"
            className={classes.read}
            aria-label={`Mark as read: ${text}`}
            onClick={onRead}
          >
            Mark as read
          </button>
        )}
      </span>
      <a
        className={classes.text}
        href={href}
        onClick={(event) => {
          onClick(event);
          onFollow();
        }}
      >
        {text}
      </a>
    </li>
  );
}
