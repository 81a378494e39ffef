import type { PositionMakerStatus } from '#contract/position-maker.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { formatCount, plainCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';

type Worker = PositionMakerStatus['workers'][number];

export function WorkerThreads({ workers }: { workers: readonly Worker[] }) {
  const formatInstant = useFormatInstant();
  const columns: CardColumn<Worker>[] = [
    { header: 'Worker', place: 'title', cell: ({ workerId }) => <span className="mono">{workerId}</span> },
    { header: 'Instance', cell: ({ instanceId }) => <span className="mono">{instanceId}</span> },
    {
      header: 'Status',
      cell: ({ isActive }) => (
        <Badge tone={isActive ? 'success' : 'neutral'}>{isActive ? 'Active' : 'Inactive'}</Badge>
      ),
    },
    {
      header: 'Tasks',
      align: 'right',
      cell: ({ currentTasks, maxConcurrent }) => `${plainCount(currentTasks)}/${plainCount(maxConcurrent)}`,
    },
    { header: 'Processed', align: 'right', cell: ({ processedTasks }) => formatCount(processedTasks) },
    {
      header: 'Last Activity',
      cell: ({ lastActivity }) => (lastActivity === null ? null : formatInstant(lastActivity)),
    },
  ];
  return (
    <CardTable
      label="Worker Threads"
      columns={columns}
      rows={workers}
      rowId={({ instanceId, workerId }) => `${instanceId} ${workerId}`}
      emptyText="No workers"
      minWidth={760}
    />
  );
}
