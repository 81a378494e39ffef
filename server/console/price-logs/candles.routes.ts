import { candlesAnswer, candlesQuery } from '#contract/charts.ts';
import type { Deps } from '#server/deps.ts';
import { findPriceLog } from '#server/ingest/stored-price-logs.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { findSeries, listCandlesUntil } from './candles.store.ts';

export function registerCandleRoutes(app: App, { db }: Deps): void {
  app.get(
    '/api/price-logs/candles',
    {
      config: { access: 'admin' },
      schema: { tags: ['price logs'], querystring: candlesQuery, response: { 200: candlesAnswer } },
    },
    async ({ query: { token, timeframe, until = null, limit, priceLogId } }) => {
      const priceLog = priceLogId === undefined ? null : await findPriceLog(db, priceLogId);
      if (priceLogId !== undefined && priceLog === null) throw new AppError('priceLogNotFound');
      const series = await findSeries(db, {
        token,
        timeframe,
        hookId: priceLog?.hookId ?? null,
        processor: priceLog?.processor ?? null,
      });
      return { candles: await listCandlesUntil(db, { series, until, limit }) };
    },
  );
}
