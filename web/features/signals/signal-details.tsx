import { useMemo } from 'react';
import type { SignalChart } from '#contract/charts.ts';
import type { SignalDetail } from '#contract/signals.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { CandleChart } from '#web/charts/candle-chart.tsx';
import { CandleChartSkeleton } from '#web/charts/candle-chart-skeleton.tsx';
import { capitalise } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { FullPrice } from '../../ui/full-price.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { OriginalTime } from '../../ui/original-time.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { SideBadge } from '../../ui/trading-badges.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { StatusWithReason, WorkflowStatus } from '../../ui/workflow-outcome.tsx';
import classes from './signal-dialogs.module.css';
import { useSignalPart } from './signals-data.ts';

/** The signal dialog, for other pages that link to a signal. */
export default function SignalDialog({ signalId, onClose }: { signalId: string; onClose: () => void }) {
  const history = useDialogHistory();
  return (
    <Dialog opened onClose={() => history.close(onClose)} title="Signal Details" size={860}>
      <SignalDetails signalId={signalId} />
    </Dialog>
  );
}

export function SignalDetails({ signalId, withChart = true }: { signalId: string; withChart?: boolean }) {
  return (
    <QueryView query={useSignalPart<SignalDetail>(signalId)} errorTitle="Failed to fetch signal">
      {(signal) => <Details signal={signal} withChart={withChart} />}
    </QueryView>
  );
}

function Details({ signal, withChart }: { signal: SignalDetail; withChart: boolean }) {
  const formatInstant = useFormatInstant();
  return (
    <div className={classes.stack}>
      <div>
        <div className={classes.name}>ID</div>
        <div className="mono">{signal.id}</div>
      </div>
      {signal.workflowStatus && signal.outcome ? (
        <div>
          <div className={classes.name}>Outcome</div>
          <StatusWithReason outcome={signal.outcome} maxWidth={640}>
            <span>
              <WorkflowStatus status={signal.workflowStatus} outcome={signal.outcome} />
            </span>
          </StatusWithReason>
        </div>
      ) : null}
      <Facts
        facts={[
          ['Token', signal.token],
          ['Action', <SideBadge key="action" side={signal.action} />],
          ['Price', <FullPrice key="price" price={signal.price} />],
          ['Currency', signal.currency],
          ['Timeframe', displayTimeframe(signal.timeframe)],
          ['Processor', signal.processor],
          ['Original Time', <OriginalTime key="original" original={signal.originalTimeTrading} />],
          ['Candle Time', formatInstant(signal.candleTimeServer)],
          ['Received Time', formatInstant(signal.receivedAtServer)],
        ]}
      />
      {withChart ? <SignalPrice signalId={signal.id} /> : null}
      <div>
        <div className={classes.name}>Parameters</div>
        {Object.keys(signal.parameters).length > 0 ? (
          <JsonView value={signal.parameters} label="Parameters" />
        ) : (
          <p className={classes.quiet}>No parameters available</p>
        )}
      </div>
    </div>
  );
}

/** The price around the signal, with its levels and fills. */
export function SignalPrice({ signalId }: { signalId: string }) {
  const chart = useSignalPart<SignalChart>(signalId, '/chart');
  return (
    <QueryView query={chart} errorTitle="Failed to fetch chart" loading={<CandleChartSkeleton />}>
      {(answer) => <Chart chart={answer} />}
    </QueryView>
  );
}

function Chart({ chart }: { chart: SignalChart }) {
  const picture = useMemo(() => {
    const { signal, ...rest } = chart;
    return { ...rest, mark: { ...signal, text: capitalise(signal.action), direction: signal.action } };
  }, [chart]);
  return <CandleChart picture={picture} />;
}
