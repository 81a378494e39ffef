import { useMemo } from 'react';
import type { SignalChart } from '#contract/charts.ts';
import type { PreviewAnswer } from '#contract/position-generator.ts';
import { CandleChartSkeleton } from '#web/charts/candle-chart-skeleton.tsx';
import { capitalise } from '../../lib/format.ts';
import { lazily } from '../../ui/lazily.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useSignalChart } from './calculator-data.ts';

const loadChart = () => import('#web/charts/candle-chart.tsx');
const CandleChart = lazily(
  async () => ({ default: (await loadChart()).CandleChart }),
  <CandleChartSkeleton />,
);

/** Preloads the chart's code while the signal is being fetched. */
export const prepareChart = () => void loadChart().catch(() => {});

type Chosen = PreviewAnswer['chosen'];

/** Recent candles with entry, stop and target for the settings on the screen. */
export function ChartCard({ signalId, chosen }: { signalId: string; chosen: Chosen | undefined }) {
  return (
    <Panel title="Recent Candles" description="Entry, stop and target move with the settings">
      <QueryView
        query={useSignalChart(signalId)}
        errorTitle="Failed to fetch chart"
        loading={<CandleChartSkeleton />}
      >
        {(chart) => <Chart chart={chart} chosen={chosen} />}
      </QueryView>
    </Panel>
  );
}

function Chart({ chart, chosen }: { chart: SignalChart; chosen: Chosen | undefined }) {
  const position = chosen?.success ? chosen.position : null;
  const [entryPrice, stopLoss, takeProfit] = [position?.entryPrice, position?.stopLoss, position?.takeProfit];
  const picture = useMemo(() => {
    const { signal, ...rest } = chart;
    return {
      ...rest,
      mark: { ...signal, text: capitalise(signal.action), direction: signal.action },
      levels: entryPrice && stopLoss && takeProfit ? { entryPrice, stopLoss, takeProfit } : null,
    };
  }, [chart, entryPrice, stopLoss, takeProfit]);
  return <CandleChart picture={picture} />;
}
