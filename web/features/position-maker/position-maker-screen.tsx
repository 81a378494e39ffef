import { Button, Text } from '@mantine/core';
import { IconRotateClockwise } from '@tabler/icons-react';
import { useState } from 'react';
import type { PositionMakerStatus } from '#contract/position-maker.ts';
import { PolledView } from '#web/lists/polled-view.tsx';
import { requestJson } from '../../lib/api-client.ts';
import { formatCount, formatDuration, formatFraction } from '../../lib/format.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { RefreshButton } from '../../ui/refresh-button.tsx';
import { StatCards } from '../../ui/stat-cards.tsx';
import { useChange } from '../../ui/use-change.ts';
import {
  positionMakerPath,
  positionMakerPaths,
  useExecutionLogs,
  useOrdersInDoubt,
  usePositionMakerStatus,
} from './position-maker-data.ts';
import { OrderExecutions, WorkerThreads } from './position-maker-tables.tsx';

/** Lazy because it is rarely needed. */
const OrdersInDoubt = lazily(() => import('./orders-in-doubt.tsx'));

export function PositionMakerScreen() {
  const status = usePositionMakerStatus();
  const logs = useExecutionLogs();
  const inDoubt = useOrdersInDoubt();
  const orders = inDoubt.data?.orders ?? [];
  const restart = useChange({
    send: () =>
      requestJson<{ message: string }>(`${positionMakerPath}/restart`, { method: 'POST', body: {} }),
    done: ({ message }) => ({ title: 'System Restarted', message }),
    failed: { title: 'Restart Failed', otherwise: 'Failed to restart system' },
    refresh: positionMakerPaths,
  });
  const [asking, setAsking] = useState(false);

  return (
    <Page
      title="Position Maker System"
      subtitle="The workers that place and follow orders, on every instance"
      actions={
        <>
          <RefreshButton
            onRefresh={() => {
              for (const query of [status, logs, inDoubt]) void query.refetch();
            }}
          />
          <Button
            color="red"
            leftSection={<IconRotateClockwise size={16} aria-hidden />}
            disabled={restart.isPending}
            onClick={() => setAsking(true)}
          >
            {restart.isPending ? 'Restarting...' : 'Restart System'}
          </Button>
        </>
      }
    >
      <PolledView query={status} errorTitle="Failed to fetch position maker status">
        {(data) => (
          <>
            <StatCards cards={healthCards(data)} />
            <StatCards cards={statusCards(data)} />
            <Panel flush title="Worker Threads">
              <WorkerThreads workers={data.workers} />
            </Panel>
          </>
        )}
      </PolledView>
      {orders.length === 0 ? null : <OrdersInDoubt orders={orders} />}
      <Panel flush title="Recent Order Executions">
        <PolledView query={logs} errorTitle="Failed to fetch execution logs">
          {(data) => <OrderExecutions logs={data.logs} />}
        </PolledView>
      </Panel>
      <ConfirmDialog
        opened={asking}
        title="Restart System"
        confirmLabel="Restart System"
        destructive
        // The screen stays visible during the restart: its cards show the progress.
        onConfirm={() => {
          setAsking(false);
          restart.mutate();
        }}
        onClose={() => setAsking(false)}
      >
        <Text size="sm">
          Restart the position maker, on every instance? While it restarts no new order is taken up; signals
          wait.
        </Text>
        <Text size="sm">{ordersText(status.data?.threadManager.processingTasks ?? 0)}</Text>
      </ConfirmDialog>
    </Page>
  );
}

const LAST_HOUR = 'in the last hour';

/** Whether orders get through, before how they are worked on. */
function healthCards({ health }: PositionMakerStatus) {
  const { queue, endedOrders, errorRate, latencyP95Ms, instances } = health;
  const orders = `${formatCount(endedOrders)} ${endedOrders === 1 ? 'order' : 'orders'} ${LAST_HOUR}`;
  return [
    { label: 'Queue', value: formatCount(queue), detail: 'workflows that wait to begin' },
    { label: 'Latency p95', value: formatDuration(latencyP95Ms), detail: `of orders ${LAST_HOUR}` },
    {
      label: 'Error Rate',
      value: (
        <span className={(errorRate ?? 0) > 0 ? 'sell' : undefined}>{formatFraction(errorRate, 1)}</span>
      ),
      detail: orders,
    },
    { label: 'Instances', value: formatCount(instances), detail: 'with an active worker' },
  ];
}

/** The four cards of the workers. */
function statusCards({ isRunning, threadManager }: PositionMakerStatus) {
  const { activeWorkers, totalWorkers, processingTasks, completedTasks } = threadManager;
  return [
    {
      label: 'System Status',
      value: <span className={isRunning ? 'buy' : 'sell'}>{isRunning ? 'Running' : 'Stopped'}</span>,
    },
    { label: 'Active Workers', value: `${formatCount(activeWorkers)}/${formatCount(totalWorkers)}` },
    { label: 'Processing Tasks', value: formatCount(processingTasks) },
    { label: 'Completed Tasks', value: formatCount(completedTasks) },
  ];
}

function ordersText(count: number): string {
  if (count === 0) return 'No order is being worked on at the moment.';
  const orders = count === 1 ? '1 order is' : `${count} orders are`;
  return `${orders} being worked on: none is lost, and none is placed twice.`;
}
