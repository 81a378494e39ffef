import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { CandlesAnswer } from '#contract/charts.ts';
import type { PriceLog } from '#contract/price-logs.ts';
import { displayTimeframe, timeframeMinutes } from '#domain/timeframe.ts';
import { CandleChart } from '#web/charts/candle-chart.tsx';
import { CandleChartSkeleton } from '#web/charts/candle-chart-skeleton.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { QueryView } from '../../ui/query-view.tsx';

interface PriceLogDialogProps {
  of: 'parameters' | 'chart';
  log: PriceLog;
  onClose: () => void;
}

export default function PriceLogDialog({ of, log, onClose }: PriceLogDialogProps) {
  const { token, timeframe } = log;
  return of === 'parameters' ? (
    <Dialog opened onClose={onClose} title={`Parameters of ${token}`} size="lg">
      <JsonView value={log.parameters} label="Parameters" />
    </Dialog>
  ) : (
    <Dialog opened onClose={onClose} title={`${token} ${displayTimeframe(timeframe)} Chart`} size={860}>
      <Chart log={log} />
    </Dialog>
  );
}

const CANDLES_AFTER = 40;
const CANDLES_SHOWN = 120;

/** The candles around a price log, for its token and timeframe. */
function Chart({ log }: { log: PriceLog }) {
  const { id, token, timeframe, candleTimeServer } = log;
  const afterMs = CANDLES_AFTER * (timeframeMinutes(timeframe) ?? 0) * 60_000;
  const until = new Date(Date.parse(candleTimeServer) + afterMs).toISOString();
  const params = { token, timeframe, until, priceLogId: id, limit: CANDLES_SHOWN };
  const query = useQuery<CandlesAnswer>({ queryKey: ['/api/price-logs/candles', params], staleTime: 0 });
  return (
    <QueryView query={query} errorTitle="Failed to fetch chart" loading={<CandleChartSkeleton />}>
      {({ candles }) => <Candles log={log} candles={candles} />}
    </QueryView>
  );
}

function Candles({ log, candles }: { log: PriceLog } & CandlesAnswer) {
  const { token, timeframe, price, candleTimeServer } = log;
  const picture = useMemo(
    () => ({
      token,
      timeframe,
      candles,
      mark: { time: candleTimeServer, price, text: 'This candle', direction: null },
      levels: null,
      fills: [],
    }),
    [token, timeframe, candles, candleTimeServer, price],
  );
  return <CandleChart picture={picture} />;
}
