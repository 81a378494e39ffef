import { Button, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type {
  ChannelTest,
  NotificationChannel,
  NotificationChannels,
} from '#contract/notification-channels.ts';
import { requestJson } from '../../lib/api-client.ts';
import { useSession } from '../../lib/session.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';
import { ConfirmChange } from '../../ui/confirm-change.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { useChange } from '../../ui/use-change.ts';
import classes from './alerts.module.css';
import { CHANNELS, KIND_LABELS } from './channel-form.ts';

const ChannelDialog = lazily(() => import('./channel-dialog.tsx'));

const POLL_MS = 15_000;

type Opened = { dialog: 'add' } | { dialog: 'edit' | 'delete'; channel: NotificationChannel };

/** Where notices are sent to, so that nobody has to watch. */
export function AlertsScreen() {
  const [opened, setOpened] = useState<Opened | null>(null);
  const { user } = useSession();
  const close = () => setOpened(null);
  // No event announces what was sent: errors and waiting notices come with the poll.
  const query = useQuery<NotificationChannels>({
    queryKey: [CHANNELS],
    staleTime: 0,
    refetchInterval: POLL_MS,
  });
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setOpened({ dialog: 'add' })}>
      Add channel
    </Button>
  );
  return (
    <Page
      title="Alerts"
      subtitle={
        user.isAdmin
          ? 'Channels that tell what happens to users and to this installation'
          : 'Channels that tell what happens to your account'
      }
      actions={add}
    >
      <Panel title="Channels" description="The bell above shows the same notices, also without a channel">
        <QueryView query={query} errorTitle="Failed to fetch channels">
          {({ channels }) =>
            channels.length === 0 ? (
              <EmptyState>
                No channels. Nobody is told of a halt or a position without a stop while this page is closed.
              </EmptyState>
            ) : (
              <ul className={classes.list} aria-label="Channels">
                {channels.map((channel) => (
                  <ChannelItem
                    key={channel.id}
                    channel={channel}
                    isOwn={channel.owner.id === user.id}
                    onOpen={(dialog) => setOpened({ dialog, channel })}
                  />
                ))}
              </ul>
            )
          }
        </QueryView>
      </Panel>
      {opened?.dialog === 'add' ? <ChannelDialog channel={null} onClose={close} /> : null}
      {opened?.dialog === 'edit' ? <ChannelDialog channel={opened.channel} onClose={close} /> : null}
      {opened?.dialog === 'delete' ? <DeleteDialog channel={opened.channel} onClose={close} /> : null}
    </Page>
  );
}

interface ChannelItemProps {
  channel: NotificationChannel;
  isOwn: boolean;
  onOpen: (dialog: 'edit' | 'delete') => void;
}

function ChannelItem({ channel, isOwn, onOpen }: ChannelItemProps) {
  const { id, kind, name, config, enabled, lastError, lastErrorAt, lastSentAt, waiting, owner } = channel;
  const { answers, answersError, mutedUntil } = channel;
  const formatInstant = useFormatInstant();
  const test = useChange<ChannelTest>({
    send: () => requestJson(`${CHANNELS}/${encodeURIComponent(id)}/test`, { method: 'POST' }),
    failed: { title: 'Test Failed', otherwise: 'The test message was not sent' },
    refresh: [CHANNELS],
  });
  const chat = config.chatId === undefined ? undefined : `Chat ${config.chatId}`;
  const unmute = useChange<NotificationChannel>({
    send: () => requestJson(`${CHANNELS}/${encodeURIComponent(id)}/mute`, { method: 'DELETE' }),
    done: () => ({ title: 'Channel Unmuted', message: `${name} gets all of its notices again` }),
    failed: { otherwise: 'The channel is still muted' },
    refresh: [CHANNELS],
  });
  const testButton = useRef<HTMLButtonElement>(null);
  const isMuted = mutedUntil !== null && Date.parse(mutedUntil) > Date.now();
  const target = [config.url, config.to, chat].find((value) => value !== undefined);
  return (
    <li>
      <div className={classes.words}>
        <span className={classes.name}>
          {name || '–'}
          <Badge tone="neutral">{KIND_LABELS[kind] ?? kind}</Badge>
          {enabled ? null : <Badge tone="outline">Off</Badge>}
          {answers ? <Badge tone="outline">Commands</Badge> : null}
          {lastError === null ? null : <Badge tone="failure">Failing</Badge>}
        </span>
        <span className={classes.detail}>
          {[target, isOwn ? null : owner.username].filter(Boolean).join(' · ') || '–'}
        </span>
        <span className={classes.detail}>{describeFilter(channel)}</span>
        <span className={classes.detail}>
          {lastSentAt === null ? 'Nothing was sent yet' : `Last sent ${formatInstant(lastSentAt)}`}
          {waiting > 0 ? ` · ${waiting} waiting` : ''}
        </span>
        {isMuted ? (
          <span className={classes.detail}>
            Muted until {formatInstant(mutedUntil)}, except for critical notices
          </span>
        ) : null}
        {answersError === null ? null : (
          <span className={classes.failure}>Commands are not answered: {answersError}</span>
        )}
        {lastError === null ? null : (
          <span className={classes.failure} role="status">
            {lastError} ({formatInstant(lastErrorAt)})
          </span>
        )}
      </div>
      <div className={classes.actions}>
        {isMuted ? (
          <Button
            size="xs"
            variant="default"
            aria-label={`Unmute ${name}`}
            disabled={unmute.isPending || id === ''}
            // This button goes, and the focus with it.
            onClick={() => unmute.mutate(undefined, { onSuccess: () => testButton.current?.focus() })}
          >
            Unmute
          </Button>
        ) : null}
        <Button
          ref={testButton}
          size="xs"
          variant="default"
          aria-label={`Send a test to ${name}`}
          disabled={test.isPending || id === ''}
          onClick={() =>
            test.mutate(undefined, {
              onSuccess: ({ ok, detail }) =>
                ok
                  ? toastSuccess({ title: 'Test Sent', message: `${name}: ${detail}` })
                  : toastError({ title: 'Test Failed', message: `${name}: ${detail}` }),
            })
          }
        >
          {test.isPending ? 'Sending...' : 'Test'}
        </Button>
        <Button
          size="xs"
          variant="default"
          aria-label={`Edit ${name}`}
          disabled={id === ''}
          onClick={() => onOpen('edit')}
        >
          Edit
        </Button>
        <Button
          size="xs"
          variant="default"
          aria-label={`Delete ${name}`}
          disabled={id === ''}
          onClick={() => onOpen('delete')}
        >
          Delete
        </Button>
      </div>
    </li>
  );
}

function describeFilter({ minSeverity, codes, quietHours }: NotificationChannel): string {
  const everything = codes === null ? 'Everything' : null;
  return [
    { info: everything, warning: 'Warning and critical', critical: 'Critical' }[minSeverity],
    codes === null ? null : `${codes.length} kinds of notices`,
    quietHours === null ? null : `quiet ${quietHours.from} to ${quietHours.to}`,
  ]
    .filter(Boolean)
    .join(', ');
}

function DeleteDialog({ channel, onClose }: { channel: NotificationChannel; onClose: () => void }) {
  return (
    <ConfirmChange
      title="Delete Channel"
      confirmLabel="Delete channel"
      pendingLabel="Deleting..."
      destructive
      send={() =>
        requestJson<{ message: string }>(`${CHANNELS}/${encodeURIComponent(channel.id)}`, {
          method: 'DELETE',
        })
      }
      done={({ message }) => ({ title: 'Channel Deleted', message })}
      failed={{ otherwise: 'The channel was not deleted' }}
      refresh={[CHANNELS]}
      onClose={onClose}
    >
      <Text size="sm" fw={600}>
        {channel.name}
      </Text>
      <Text size="sm">Notices that wait for this channel are not sent any more.</Text>
    </ConfirmChange>
  );
}
