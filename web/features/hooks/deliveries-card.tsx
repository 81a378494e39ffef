import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import type { Delivery } from '#contract/hooks.ts';
import type { TableColumns } from '#web/lists/data-table.tsx';
import { ListPanel } from '#web/lists/list-panel.tsx';
import { isStatus } from '../../lib/api-client.ts';
import { capitalise } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { TextView } from '../../ui/json-view.tsx';
import { RefreshButton } from '../../ui/refresh-button.tsx';
import classes from './webhook-screen.module.css';
import { deliveriesPath, useRefreshWebhook } from './webhooks.ts';

export function DeliveriesCard({ hookId }: { hookId: string }) {
  // Deliveries arrive at any time, so reopening the screen fetches the latest.
  const deliveries = useQuery<Delivery[]>({
    queryKey: [deliveriesPath(hookId)],
    refetchOnMount: 'always',
  });
  const refreshWebhook = useRefreshWebhook();
  const formatInstant = useFormatInstant();
  const columns = useMemo(() => deliveryColumns(formatInstant), [formatInstant]);
  // The webhook was deleted elsewhere.
  const gone = isStatus(deliveries.error, 404);
  useEffect(() => {
    if (gone) refreshWebhook();
  }, [gone, refreshWebhook]);

  return (
    <ListPanel
      title="Recent Deliveries"
      description="The last 50 calls to this webhook"
      aside={
        <RefreshButton size="xs" busy={deliveries.isFetching} onRefresh={() => void deliveries.refetch()} />
      }
      query={deliveries}
      errorTitle="Failed to fetch deliveries"
      label="Recent deliveries"
      columns={columns}
      rows={deliveries.data}
      emptyText="No deliveries yet"
      minWidth={0}
      skeletonRows={4}
    />
  );
}

const RESULT_TONES: Record<Delivery['result'], BadgeTone> = {
  stored: 'success',
  duplicate: 'neutral',
  refused: 'failure',
  limited: 'warning',
};

/** What may be a secret is masked by the server. */
function RefusedBody({ body, position }: NonNullable<Delivery['refused']>) {
  return (
    <details className={classes.refused}>
      <summary>What was sent</summary>
      {position === null ? null : (
        <p className={classes.quiet}>
          It stops being JSON at line {position.line}, column {position.column}.
        </p>
      )}
      <TextView text={body} label="What was sent" />
    </details>
  );
}

/** Two columns, because the card is half a screen wide: source and reason have lines of their own. */
const deliveryColumns = (formatInstant: (instant: string) => string): TableColumns<Delivery> => [
  {
    id: 'delivery',
    header: 'Delivery',
    cell: ({ receivedAt, kind, sourceIp, reason, more, refused }) => (
      <div className={classes.delivery}>
        <span>{formatInstant(receivedAt)}</span>
        <span className={classes.quiet}>
          {more === null ? `${capitalise(kind)} from ${sourceIp}` : `and ${more} more in this minute`}
        </span>
        {reason ? <span className={classes.reason}>{reason}</span> : null}
        {refused === undefined ? null : <RefusedBody {...refused} />}
      </div>
    ),
  },
  {
    id: 'result',
    header: 'Result',
    cell: ({ result }) => <Badge tone={RESULT_TONES[result]}>{capitalise(result)}</Badge>,
  },
];
