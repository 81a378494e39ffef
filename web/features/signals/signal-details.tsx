import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { SignalChart as SignalChartAnswer } from '#contract/charts.ts';
import type { SignalDetail } from '#contract/signals.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { CandleChart } from '#web/charts/candle-chart.tsx';
import { CandleChartSkeleton } from '#web/charts/candle-chart-skeleton.tsx';
import { requestJson } from '../../lib/api-client.ts';
import { capitalise } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Facts } from '../../ui/facts.tsx';
import { FullPrice } from '../../ui/full-price.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { OriginalTime } from '../../ui/original-time.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { ActionBadge } from '../../ui/trading-badges.tsx';
import { useSignal } from './get-signal.ts';
import { signalsPath } from './get-signals.ts';
import classes from './signal-dialogs.module.css';

export function SignalDetails({ signalId }: { signalId: string }) {
  return (
    <QueryView query={useSignal(signalId)} errorTitle="Failed to fetch signal">
      {(signal) => <Details signal={signal} />}
    </QueryView>
  );
}

function Details({ signal }: { signal: SignalDetail }) {
  const formatInstant = useFormatInstant();
  return (
    <div className={classes.stack}>
      <div>
        <div className={classes.name}>ID</div>
        <div className="mono">{signal.id}</div>
      </div>
      <Facts
        facts={[
          ['Token', signal.token],
          ['Action', <ActionBadge key="action" action={signal.action} />],
          ['Price', <FullPrice key="price" price={signal.price} />],
          ['Currency', signal.currency],
          ['Timeframe', displayTimeframe(signal.timeframe)],
          ['Processor', signal.processor],
          ['Original Time', <OriginalTime key="original" original={signal.originalTimeTrading} />],
          ['Candle Time', formatInstant(signal.candleTimeServer)],
          ['Received Time', formatInstant(signal.receivedAtServer)],
        ]}
      />
      <SignalChart signalId={signal.id} />
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

function SignalChart({ signalId }: { signalId: string }) {
  return (
    <QueryView
      query={useSignalChart(signalId)}
      errorTitle="Failed to fetch chart"
      loading={<CandleChartSkeleton />}
    >
      {(chart) => <Chart chart={chart} />}
    </QueryView>
  );
}

function useSignalChart(signalId: string) {
  const path = `${signalsPath}/${encodeURIComponent(signalId)}/chart`;
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => requestJson<SignalChartAnswer>(path, { signal }),
    staleTime: 0,
  });
}

function Chart({ chart }: { chart: SignalChartAnswer }) {
  const picture = useMemo(() => {
    const { signal, ...rest } = chart;
    return { ...rest, mark: { ...signal, text: capitalise(signal.action), direction: signal.action } };
  }, [chart]);
  return <CandleChart picture={picture} />;
}
