import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useMemo } from 'react';
import { DataTable } from '#web/lists/data-table.tsx';
import { isStatus } from '../../lib/api-client.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Panel } from '../../ui/panel.tsx';
import { RefreshButton } from '../../ui/refresh-button.tsx';
import { ErrorBanner, ErrorState } from '../../ui/states.tsx';
import { deliveryColumns, narrowDeliveryColumns } from './delivery-columns.tsx';
import { useDeliveries, useRefreshWebhook } from './webhooks.ts';

/** Where five columns fit: between the telephone and the two columns of the screen, and when those are wide. */
const WIDE = '(min-width: 48em) and (max-width: 61.99em), (min-width: 80em)';

export function DeliveriesCard({ hookId }: { hookId: string }) {
  const deliveries = useDeliveries(hookId);
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

  const failure = {
    title: 'Failed to fetch deliveries',
    error: deliveries.error,
    onRetry: () => void deliveries.refetch(),
    retrying: deliveries.isFetching,
  };
  return (
    <Panel
      flush
      title="Recent Deliveries"
      description="The last 50 calls to this webhook"
      aside={
        <RefreshButton size="xs" busy={deliveries.isFetching} onRefresh={() => void deliveries.refetch()} />
      }
    >
      {deliveries.isError && deliveries.data ? <ErrorBanner {...failure} /> : null}
      {deliveries.isError && !deliveries.data ? (
        <ErrorState {...failure} />
      ) : (
        <DataTable
          label="Recent deliveries"
          columns={columns}
          rows={deliveries.data}
          rowId={deliveryId}
          emptyText="No deliveries yet"
          minWidth={wide ? 600 : 0}
          skeletonRows={4}
        />
      )}
    </Panel>
  );
}

const deliveryId = ({ id }: { id: string }) => id;
