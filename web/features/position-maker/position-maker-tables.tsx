import type { ExecutionLogs, PositionMakerStatus } from '#contract/position-maker.ts';
import { CardLines } from '#web/lists/card-lines.tsx';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { formatCount, plainCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';
import classes from './position-maker.module.css';

type Worker = PositionMakerStatus['workers'][number];
type ExecutionLog = ExecutionLogs['logs'][number];

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
    {
      header: 'State',
      place: 'card',
      cell: ({ workerId, instanceId, isActive, currentTasks, maxConcurrent, processedTasks }) => (
        <CardLines
          lines={[
            [
              <strong key="worker">{workerId}</strong>,
              <Badge key="status" tone={isActive ? 'success' : 'neutral'}>
                {isActive ? 'Active' : 'Inactive'}
              </Badge>,
            ],
            [
              instanceId,
              `${plainCount(currentTasks)}/${plainCount(maxConcurrent)}, ${formatCount(processedTasks)} done`,
            ],
          ]}
        />
      ),
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

const ID_LENGTH = 8;

export function OrderExecutions({ logs }: { logs: readonly ExecutionLog[] }) {
  const formatInstant = useFormatInstant();
  const columns: CardColumn<ExecutionLog>[] = [
    { header: 'Task ID', place: 'title', cell: ({ taskId }) => <ShortId id={taskId} /> },
    { header: 'User ID', isSpare: true, cell: ({ userId }) => <ShortId id={userId} /> },
    { header: 'Username', cell: ({ username }) => username },
    { header: 'Token', cell: ({ token }) => <TokenBadge token={token} /> },
    { header: 'Exchange', cell: ({ exchangePlatform }) => exchangePlatform },
    {
      header: 'Status',
      cell: ({ success }) => (
        <Badge tone={success ? 'success' : 'failure'}>{success ? 'Success' : 'Failed'}</Badge>
      ),
    },
    {
      header: 'Order ID',
      cell: ({ orderId }) => (orderId === null ? null : <span className="mono">{orderId}</span>),
    },
    { header: 'Submitted At', cell: ({ submittedAt }) => formatInstant(submittedAt) },
    {
      header: 'Execution',
      place: 'card',
      cell: ({ taskId, username, token, exchangePlatform, success, orderId, submittedAt }) => (
        <CardLines
          lines={[
            [
              <>
                <strong>{token}</strong> · {username}
              </>,
              <Badge key="status" tone={success ? 'success' : 'failure'}>
                {success ? 'Success' : 'Failed'}
              </Badge>,
            ],
            [`${exchangePlatform} ${orderId ?? 'without an order'}`, `task ${taskId.slice(0, ID_LENGTH)}`],
            [formatInstant(submittedAt)],
          ]}
        />
      ),
    },
  ];
  return (
    <CardTable
      label="Recent Order Executions"
      columns={columns}
      rows={logs}
      rowId={({ id }) => id}
      emptyText="No execution logs yet"
      minWidth={860}
      note={({ error }) => (error === null ? null : <p className={classes.error}>{error}</p>)}
    />
  );
}

function ShortId({ id }: { id: string }) {
  return (
    <span className="mono" data-tip={id}>
      {id.slice(0, ID_LENGTH)}
    </span>
  );
}
