import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { SignalChart as SignalChartAnswer } from '#contract/charts.ts';
import { CandleChart } from '#web/charts/candle-chart.tsx';
import { CandleChartSkeleton } from '#web/charts/candle-chart-skeleton.tsx';
import { requestJson } from '../../lib/api-client.ts';
import { capitalise } from '../../lib/format.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { signalsPath } from './get-signals.ts';

export function SignalChart({ signalId }: { signalId: string }) {
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
