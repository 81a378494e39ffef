import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import type { Delivery } from '#contract/hooks.ts';
import type { TableColumns } from '#web/lists/data-table.tsx';
import { ListPanel } from '#web/lists/list-panel.tsx';
import { isStatus } from '../../lib/api-client.ts';
import { capitalise } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { RefreshButton } from '../../ui/refresh-button.tsx';
import classes from './webhook-screen.module.css';
import { deliveriesPath, useRefreshWebhook } from './webhooks.ts';

/** Where five columns fit: between phones and the two-column layout, and in a wide two-column layout. */
const WIDE = '(min-width: 48em) and (max-width: 61.99em), (min-width: 80em)';

export function DeliveriesCard({ hookId }: { hookId: string }) {
  // Deliveries arrive at any time, so reopening the screen fetches the latest.
  const deliveries = useQuery<Delivery[]>({
    queryKey: [deliveriesPath(hookId)],
    refetchOnMount: 'always',
  });
  const refreshWebhook = useRefreshWebhook();
  const formatInstant = useFormatInstant();
  const wide = useMediaQuery(WIDE, undefined, { getInitialValueInEffect: false });
  const columns = useMemo(
    () => (wide ? deliveryColumns(formatInstant) : narrowDeliveryColumns(formatInstant)),
    [wide, formatInstant],
  );
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
      minWidth={wide ? 600 : 0}
      skeletonRows={4}
    />
  );
}

type FormatInstant = (instant: string) => string;

const RESULT_TONES: Record<Delivery['result'], BadgeTone> = {
  stored: 'success',
  duplicate: 'neutral',
  refused: 'failure',
  limited: 'warning',
};

const ResultBadge = ({ result }: { result: Delivery['result'] }) => (
  <Badge tone={RESULT_TONES[result]}>{capitalise(result)}</Badge>
);

const deliveryColumns = (formatInstant: FormatInstant): TableColumns<Delivery> => [
  { id: 'time', header: 'Time', cell: (delivery) => formatInstant(delivery.receivedAt) },
  { id: 'kind', header: 'Kind', cell: (delivery) => capitalise(delivery.kind) },
  { id: 'result', header: 'Result', cell: (delivery) => <ResultBadge result={delivery.result} /> },
  {
    id: 'reason',
    header: 'Reason',
    cell: (delivery) => <span className={classes.reason}>{delivery.reason ?? '–'}</span>,
  },
  {
    id: 'source',
    header: 'Source Address',
    cell: (delivery) => <span className={classes.source}>{delivery.sourceIp}</span>,
  },
];

/** On a phone the reason has its own line, to avoid sideways scrolling. */
const narrowDeliveryColumns = (formatInstant: FormatInstant): TableColumns<Delivery> => [
  {
    id: 'delivery',
    header: 'Delivery',
    cell: (delivery) => (
      <div className={classes.delivery}>
        <span>{formatInstant(delivery.receivedAt)}</span>
        <span className={classes.quiet}>
          {capitalise(delivery.kind)} from {delivery.sourceIp}
        </span>
        {delivery.reason ? <span className={classes.reason}>{delivery.reason}</span> : null}
      </div>
    ),
  },
  { id: 'result', header: 'Result', cell: (delivery) => <ResultBadge result={delivery.result} /> },
];
