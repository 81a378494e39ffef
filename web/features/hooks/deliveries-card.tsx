import { Button } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useMemo } from 'react';
import type { Delivery } from '#contract/hooks.ts';
import { capitalise } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { DataTable, type TableColumns } from '../../ui/data-table.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ErrorBanner, ErrorState } from '../../ui/states.tsx';
import { useDeliveries } from './webhooks.ts';

const RESULT_TONES: Record<Delivery['result'], BadgeTone> = {
  stored: 'success',
  duplicate: 'neutral',
  refused: 'failure',
  limited: 'warning',
};

export function DeliveriesCard({ hookId }: { hookId: string }) {
  const deliveries = useDeliveries(hookId);
  const formatInstant = useFormatInstant();
  const columns = useMemo<TableColumns<Delivery>>(
    () => [
      { id: 'time', header: 'Time', cell: ({ row }) => formatInstant(row.original.receivedAt) },
      { id: 'kind', header: 'Kind', cell: ({ row }) => capitalise(row.original.kind) },
      {
        id: 'result',
        header: 'Result',
        cell: ({ row: { original } }) => (
          <Badge tone={RESULT_TONES[original.result]}>{capitalise(original.result)}</Badge>
        ),
      },
      { id: 'reason', header: 'Reason', cell: ({ row }) => row.original.reason ?? '–' },
      { id: 'source', header: 'Source Address', cell: ({ row }) => row.original.sourceIp },
    ],
    [formatInstant],
  );
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
        <Button
          size="xs"
          variant="default"
          leftSection={<IconRefresh size={14} aria-hidden />}
          disabled={deliveries.isFetching}
          onClick={() => void deliveries.refetch()}
        >
          Refresh
        </Button>
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
          rowId={(delivery) => delivery.id}
          emptyText="No deliveries yet"
          minWidth={720}
          skeletonRows={4}
        />
      )}
    </Panel>
  );
}
