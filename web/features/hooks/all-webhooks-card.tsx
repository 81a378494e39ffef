import { Button } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { AdminHook, AdminHooksAnswer } from '#contract/hooks.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { Pager } from '#web/lists/pager.tsx';
import { countPages } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { adminHooksPath } from '../../lib/webhook-of-user.ts';
import { Badge } from '../../ui/badge.tsx';
import { CutText } from '../../ui/cut-text.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import type { AskedChange } from './any-webhook-dialog.tsx';
import classes from './webhook-screen.module.css';

const PAGE_SIZE = 10;

const AnyWebhookDialog = lazy(() => import('./any-webhook-dialog.tsx'));

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
      <Suspense fallback={null}>
        {asked ? <AnyWebhookDialog {...asked} onClose={() => setAsked(null)} /> : null}
      </Suspense>
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
  { header: 'State', cell: (hook) => <StateBadges hook={hook} formatInstant={formatInstant} /> },
  {
    header: 'Last Delivery',
    cell: ({ lastDeliveryAt }) => (lastDeliveryAt === null ? 'Never' : formatInstant(lastDeliveryAt)),
  },
  { header: 'Actions', cell: (hook) => <Actions hook={hook} ask={(kind) => ask({ kind, hook })} /> },
];

interface StateBadgesProps {
  hook: AdminHook;
  formatInstant: (instant: string) => string;
}

/** Suspension and an inactive user both refuse deliveries, and end independently. */
function StateBadges({ hook: { suspendedAt, userActive }, formatInstant }: StateBadgesProps) {
  if (suspendedAt === null && userActive) return <Badge tone="success">Active</Badge>;
  return (
    <span className={classes.owner}>
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
  );
}

function Actions({ hook, ask }: { hook: AdminHook; ask: (kind: AskedChange['kind']) => void }) {
  const of = `the webhook of ${hook.username}`;
  const button = (kind: AskedChange['kind'], label: string, name: string) => (
    <Button size="xs" variant="default" aria-label={name} onClick={() => ask(kind)}>
      {label}
    </Button>
  );
  return (
    <span className={classes.actions}>
      {hook.suspendedAt === null
        ? button('suspend', 'Suspend', `Suspend ${of}`)
        : button('lift', 'Resume', `Resume ${of}`)}
      {button('renew', 'Renew', `Renew the key of ${of}`)}
      {button('delete', 'Delete', `Delete ${of}`)}
    </span>
  );
}
