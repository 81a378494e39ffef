import { signalChart } from '#contract/charts.ts';
import { idParams } from '#contract/paging.ts';
import { findSeries, listCandlesAfter, listCandlesUntil } from '#server/console/price-logs/candles.store.ts';
import type { Deps } from '#server/deps.ts';
import { findSignal } from '#server/ingest/stored-signals.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { findFirstLevels, listSignalFills } from './signal-chart.store.ts';

const CANDLES_BEFORE = 80;
const CANDLES_AFTER = 40;

export function registerSignalChartRoutes(app: App, { db }: Deps): void {
  app.get(
    '/api/signals/:id/chart',
    {
      config: { access: 'admin' },
      schema: { tags: ['signals'], params: idParams, response: { 200: signalChart } },
    },
    async ({ params: { id } }) => {
      const signal = await findSignal(db, id);
      if (signal === null) throw new AppError('signalNotFound');
      const { token, timeframe, hookId, processor, price, action } = signal;
      const time = signal.signalTimeServer ?? signal.receivedAt;
      const series = await findSeries(db, { token, timeframe, hookId, processor });
      const [before, after, levels, fills] = await Promise.all([
        listCandlesUntil(db, { series, until: time, limit: CANDLES_BEFORE }),
        listCandlesAfter(db, { series, after: time, limit: CANDLES_AFTER }),
        findFirstLevels(db, id),
        listSignalFills(db, id),
      ]);
      return {
        token,
        timeframe,
        candles: [...before, ...after],
        signal: { time: time.toISOString(), price, action },
        levels,
        fills,
      };
    },
  );
}
