import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { CandlesAnswer } from '#contract/charts.ts';
import type { PriceLog } from '#contract/price-logs.ts';
import { displayTimeframe, timeframeMinutes } from '#domain/timeframe.ts';
import { CandleChart } from '#web/charts/candle-chart.tsx';
import { CandleChartSkeleton } from '#web/charts/candle-chart-skeleton.tsx';
import { requestJson } from '../../lib/api-client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { priceLogsPath } from './get-price-logs.ts';

const CANDLES_AFTER = 40;
const CANDLES_SHOWN = 120;

/** The candles of a price log's token and timeframe around it. */
export default function PriceLogChartDialog({ log, onClose }: { log: PriceLog; onClose: () => void }) {
  const title = `${log.token} ${displayTimeframe(log.timeframe)} Chart`;
  return (
    <Dialog opened onClose={onClose} title={title} size={860}>
      <QueryView query={useCandles(log)} errorTitle="Failed to fetch chart" loading={<CandleChartSkeleton />}>
        {({ candles }) => <Chart log={log} candles={candles} />}
      </QueryView>
    </Dialog>
  );
}

function useCandles({ id, token, timeframe, candleTimeServer }: PriceLog) {
  const path = `${priceLogsPath}/candles`;
  const afterMs = CANDLES_AFTER * (timeframeMinutes(timeframe) ?? 0) * 60_000;
  const until = new Date(Date.parse(candleTimeServer) + afterMs).toISOString();
  const params = { token, timeframe, until, priceLogId: id, limit: CANDLES_SHOWN };
  return useQuery({
    queryKey: [path, params],
    queryFn: ({ signal }) => requestJson<CandlesAnswer>(path, { params, signal }),
    staleTime: 0,
  });
}

function Chart({ log, candles }: { log: PriceLog } & CandlesAnswer) {
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
