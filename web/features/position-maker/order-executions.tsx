import type { ExecutionLogs } from '#contract/position-maker.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';
import classes from './order-executions.module.css';

type ExecutionLog = ExecutionLogs['logs'][number];

const ID_LENGTH = 8;

export function OrderExecutions({ logs }: { logs: readonly ExecutionLog[] }) {
  const formatInstant = useFormatInstant();
  const columns: CardColumn<ExecutionLog>[] = [
    { header: 'Task ID', place: 'title', cell: ({ taskId }) => <ShortId id={taskId} /> },
    { header: 'User ID', cell: ({ userId }) => <ShortId id={userId} /> },
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
  ];
  return (
    <CardTable
      label="Recent Order Executions"
      columns={columns}
      rows={logs}
      rowId={({ id }) => id}
      emptyText="No execution logs yet"
      minWidth={1000}
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
