import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useMemo } from 'react';
import { ListPanel } from '#web/lists/list-panel.tsx';
import { isStatus } from '../../lib/api-client.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { RefreshButton } from '../../ui/refresh-button.tsx';
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
