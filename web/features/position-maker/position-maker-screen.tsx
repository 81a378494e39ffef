import { Button } from '@mantine/core';
import { IconRotateClockwise } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { PolledView } from '#web/lists/polled-view.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { RefreshButton } from '../../ui/refresh-button.tsx';
import { StatCards } from '../../ui/stat-cards.tsx';
import {
  useExecutionLogs,
  useOrdersInDoubt,
  usePositionMakerStatus,
  useRefreshPositionMaker,
} from './get-position-maker.ts';
import { OrderExecutions } from './order-executions.tsx';
import { useRestartSystem } from './restart-system.ts';
import { statusCards } from './status-cards.tsx';
import { WorkerThreads } from './worker-threads.tsx';

/** Seldom needed. */
const OrdersInDoubt = lazy(() => import('./orders-in-doubt.tsx'));
const RestartDialog = lazy(() => import('./restart-dialog.tsx'));

export function PositionMakerScreen() {
  const status = usePositionMakerStatus();
  const logs = useExecutionLogs();
  const inDoubt = useOrdersInDoubt().data?.orders ?? [];
  const refresh = useRefreshPositionMaker();
  const restart = useRestartSystem();
  const [asking, setAsking] = useState(false);

  return (
    <Page
      title="Position Maker System"
      subtitle="The workers that place and follow orders, on every instance"
      actions={
        <>
          <RefreshButton onRefresh={() => void refresh()} />
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
            <StatCards cards={statusCards(data)} />
            <Panel flush title="Worker Threads">
              <WorkerThreads workers={data.workers} />
            </Panel>
          </>
        )}
      </PolledView>
      {inDoubt.length === 0 ? null : (
        <Suspense fallback={null}>
          <OrdersInDoubt orders={inDoubt} />
        </Suspense>
      )}
      <Panel flush title="Recent Order Executions">
        <PolledView query={logs} errorTitle="Failed to fetch execution logs">
          {(data) => <OrderExecutions logs={data.logs} />}
        </PolledView>
      </Panel>
      {asking ? (
        <Suspense fallback={null}>
          <RestartDialog
            processingTasks={status.data?.threadManager.processingTasks ?? 0}
            // The screen stays in sight while the system restarts: its cards show how far it is.
            onConfirm={() => {
              setAsking(false);
              restart.mutate();
            }}
            onClose={() => setAsking(false)}
          />
        </Suspense>
      ) : null}
    </Page>
  );
}
