import { Button } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { AdminHook, AdminHooksAnswer } from '#contract/hooks.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { Pager } from '#web/lists/pager.tsx';
import { countPages } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { adminHooksPath } from '../../lib/webhook-of-user.ts';
import { Badge } from '../../ui/badge.tsx';
import { CutText } from '../../ui/cut-text.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import type { AskedChange } from './any-webhook-dialog.tsx';
import classes from './webhook-screen.module.css';

const PAGE_SIZE = 10;

const AnyWebhookDialog = lazily(() => import('./any-webhook-dialog.tsx'));

/** For administrators: the webhooks of all users, and their actions. */
export default function AllWebhooksCard() {
  const [page, setPage] = useState(1);
  const [asked, setAsked] = useState<AskedChange | null>(null);
  const query = useQuery<AdminHooksAnswer>({
    queryKey: [adminHooksPath, { page, limit: PAGE_SIZE }],
    placeholderData: keepPreviousData,
  });
  const formatInstant = useFormatInstant();
  const columns = useMemo(() => columnsOf(formatInstant, setAsked), [formatInstant]);
  const pageCount = countPages(query.data?.total, PAGE_SIZE);
  // The current page's rows are gone; go to the last page.
  const last = Math.max(pageCount ?? page, 1);
  if (!query.isPlaceholderData && page > last) setPage(last);
  return (
    <Panel
      flush
      title="Webhooks of all users"
      description="Signals of administrators are for every eligible user, signals of other users for themselves only"
    >
      <QueryView query={query} errorTitle="Failed to fetch the webhooks of all users">
        {({ hooks }) => (
          <>
            <CardTable
              label="Webhooks of all users"
              columns={columns}
              rows={hooks}
              rowId={({ id }) => id}
              emptyText="No user has a webhook yet"
              minWidth={900}
              faded={query.isPlaceholderData}
            />
            <Pager page={page} pageCount={pageCount} onPage={setPage} />
          </>
        )}
      </QueryView>
      {asked ? <AnyWebhookDialog {...asked} onClose={() => setAsked(null)} /> : null}
    </Panel>
  );
}

const columnsOf = (
  formatInstant: (instant: string) => string,
  ask: (change: AskedChange) => void,
): CardColumn<AdminHook>[] => [
  {
    header: 'User',
    place: 'title',
    cell: ({ username, isAdmin }) => (
      <span className={classes.owner}>
        <strong>
          <CutText maxWidth={220}>{username}</CutText>
        </strong>
        {isAdmin ? <Badge tone="accent">Admin</Badge> : null}
      </span>
    ),
  },
  { header: 'Webhook', cell: ({ name }) => <CutText maxWidth={160}>{name}</CutText> },
  { header: 'Key', cell: ({ hookKey }) => <code>{hookKey}</code> },
  {
    header: 'State',
    // Suspension and an inactive user both refuse deliveries, and end independently.
    cell: ({ suspendedAt, userActive }) => (
      <span className={classes.owner}>
        {suspendedAt === null && userActive ? <Badge tone="success">Active</Badge> : null}
        {suspendedAt === null ? null : (
          <Badge tone="failure" tip={`By an administrator on ${formatInstant(suspendedAt)}`}>
            Suspended
          </Badge>
        )}
        {userActive ? null : (
          <Badge tone="warning" tip="Deliveries are refused until the user is activated">
            Owner inactive
          </Badge>
        )}
      </span>
    ),
  },
  {
    header: 'Last Delivery',
    cell: ({ lastDeliveryAt }) => (lastDeliveryAt === null ? 'Never' : formatInstant(lastDeliveryAt)),
  },
  {
    header: 'Actions',
    cell: (hook) => (
      <span className={classes.owner}>
        {(['suspend', 'renew', 'delete'] as const).map((name) => {
          const kind = name === 'suspend' && hook.suspendedAt !== null ? 'lift' : name;
          const label = ACTIONS[kind];
          const of = `${kind === 'renew' ? 'the key of ' : ''}the webhook of ${hook.username}`;
          return (
            <Button
              key={name}
              size="xs"
              variant="default"
              aria-label={`${label} ${of}`}
              onClick={() => ask({ kind, hook })}
            >
              {label}
            </Button>
          );
        })}
      </span>
    ),
  },
];

const ACTIONS = { suspend: 'Suspend', lift: 'Resume', renew: 'Renew', delete: 'Delete' } as const;
