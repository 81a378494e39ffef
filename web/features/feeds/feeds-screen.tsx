import { Button } from '@mantine/core';
import { IconWebhook } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ChangeFeedBody, Feed, FeedsAnswer } from '#contract/feeds.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { CardLines } from '#web/lists/card-lines.tsx';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { requestJson } from '../../lib/api-client.ts';
import { formatCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { ButtonLink } from '../../ui/link.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';
import { useChange } from '../../ui/use-change.ts';
import { FEEDS, feedName } from './feed-name.ts';
import classes from './feeds.module.css';

const FeedDialog = lazily(() => import('./feed-dialog.tsx'));

const POLL_MS = 15_000;

/** States of a newer server are their own names. */
const STATES: Readonly<Record<string, [label: string, tone: BadgeTone]>> = {
  learning: ['Learning', 'info'],
  ok: ['On time', 'success'],
  late: ['Late', 'warning'],
  silent: ['Silent', 'failure'],
  muted: ['Muted', 'neutral'],
} satisfies Record<Feed['state'], [label: string, tone: BadgeTone]>;

/** Clocks that differ by less are in step: most candle times have no seconds, and an alert takes some. */
const SKEW_SHOWN_SECONDS = 90;

/** The series of candles that come in, and whether they still come. */
export function FeedsScreen() {
  const formatInstant = useFormatInstant();
  const [edited, setEdited] = useState<Feed | null>(null);
  const query = useQuery<FeedsAnswer>({ queryKey: [FEEDS], staleTime: 0, refetchInterval: POLL_MS });
  const columns: CardColumn<Feed>[] = [
    {
      header: 'Feed',
      place: 'title',
      cell: ({ token, timeframe, processor }) => (
        <span className={classes.feed}>
          <TokenBadge token={token} /> {[displayTimeframe(timeframe), processor].filter(Boolean).join(' · ')}
        </span>
      ),
    },
    {
      header: 'State',
      cell: ({ state }) => {
        const [label, tone] = STATES[state] ?? [state, 'neutral'];
        return <Badge tone={tone}>{label}</Badge>;
      },
    },
    { header: 'Last candle', cell: ({ lastCandleAt }) => formatInstant(lastCandleAt) },
    {
      header: 'Next due',
      cell: ({ expectedAt }) => (expectedAt === null ? null : formatInstant(expectedAt)),
    },
    { header: 'Missing, 7 days', cell: ({ gaps7d }) => formatCount(gaps7d) },
    { header: 'Clock', cell: ({ skewSeconds }) => skewText(skewSeconds) },
    {
      header: 'Expected',
      isSpare: true,
      cell: ({ hours }) => (hours === null ? 'Always' : `${hours.from} to ${hours.to}`),
    },
    { header: 'Webhook of', isSpare: true, cell: ({ owner }) => owner },
    { header: 'Feed card', place: 'card', cell: (feed) => <FeedCard feed={feed} /> },
    {
      header: 'Actions',
      place: 'action',
      cell: (feed) => <Actions feed={feed} onEdit={() => setEdited(feed)} />,
    },
  ];
  return (
    <Page
      title="Feeds"
      subtitle="Price feeds that came through webhooks. Notices tell when one is late, when it is two candles late, and when it is back."
      actions={
        <ButtonLink to="/configuration" variant="default" leftSection={<IconWebhook size={16} aria-hidden />}>
          Configuration
        </ButtonLink>
      }
    >
      <Panel flush title="Feeds" description="Signals have no rhythm and are not watched">
        <QueryView query={query} errorTitle="Failed to fetch feeds">
          {({ feeds }) => (
            <CardTable
              label="Feeds"
              columns={columns}
              rows={feeds}
              rowId={({ id }) => id}
              emptyText="No feeds yet: they appear with the first candle of a webhook"
              minWidth={820}
            />
          )}
        </QueryView>
      </Panel>
      {edited === null ? null : <FeedDialog feed={edited} onClose={() => setEdited(null)} />}
    </Page>
  );
}

/** A feed on a telephone. */
function FeedCard({ feed }: { feed: Feed }) {
  const formatInstant = useFormatInstant();
  const { token, timeframe, processor, state, lastCandleAt, expectedAt, gaps7d, skewSeconds, owner } = feed;
  const [label, tone] = STATES[state] ?? [state, 'neutral'];
  const missing = gaps7d > 0 ? `${formatCount(gaps7d)} missing in 7 days` : 'none missing';
  return (
    <CardLines
      lines={[
        [
          <>
            <strong>{token}</strong> {[displayTimeframe(timeframe), processor].filter(Boolean).join(' · ')}
          </>,
          <Badge key="state" tone={tone}>
            {label}
          </Badge>,
        ],
        [`Last ${formatInstant(lastCandleAt)}`, missing],
        [expectedAt === null ? owner : `Due ${formatInstant(expectedAt)}`, skewText(skewSeconds)],
      ]}
    />
  );
}

function skewText(seconds: number | null): string {
  if (seconds === null) return '–';
  if (Math.abs(seconds) < SKEW_SHOWN_SECONDS) return 'In step';
  return seconds > 0 ? `${formatCount(seconds)} s behind` : `${formatCount(-seconds)} s ahead`;
}

function Actions({ feed, onEdit }: { feed: Feed; onEdit: () => void }) {
  const isMuted = feed.state === 'muted';
  const mute = useChange<Feed>({
    send: () => {
      const body: ChangeFeedBody = { muted: !isMuted };
      return requestJson(`${FEEDS}/${encodeURIComponent(feed.id)}`, { method: 'PUT', body });
    },
    failed: { otherwise: 'The feed was not changed' },
    refresh: [FEEDS],
  });
  const name = feedName(feed);
  return (
    <span className={classes.actions}>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`${isMuted ? 'Unmute' : 'Mute'} ${name}`}
        disabled={mute.isPending || feed.id === ''}
        onClick={() => mute.mutate()}
      >
        {isMuted ? 'Unmute' : 'Mute'}
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Edit ${name}`}
        disabled={feed.id === ''}
        onClick={onEdit}
      >
        Edit
      </Button>
    </span>
  );
}
