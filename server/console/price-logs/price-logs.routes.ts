import { candlesAnswer, candlesQuery } from '#contract/charts.ts';
import { hashParams, priceLogDetail, priceLogsAnswer, priceLogsQuery } from '#contract/price-logs.ts';
import { timeframeFilter } from '#server/console/price-logs/spellings.ts';
import type { Deps } from '#server/deps.ts';
import { findPriceLog, findPriceLogByHash } from '#server/ingest/stored-price-logs.ts';
import { readList } from '#server/platform/db/list-totals/read-list.ts';
import { timeRange } from '#server/platform/db/list-totals/time-range.ts';
import { required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { isoDates } from '#server/platform/iso-dates.ts';
import { figureReader, findSeries, listCandlesUntil } from './candles.store.ts';
import { registerChoiceRoutes } from './choices.routes.ts';

export function registerPriceLogRoutes(app: App, deps: Deps): void {
  const { db, clock } = deps;
  const admin = routeOptions({ access: 'admin', tags: ['price logs'] });

  app.get(
    '/api/price-logs',
    admin({ querystring: priceLogsQuery, answer: priceLogsAnswer }),
    async ({ query: { page, limit, until, from, to, sort: _byTime, order, ...filter } }) => {
      const timeframe = await timeframeFilter(db, 'price-logs', filter.timeframe);
      const range = timeRange({ until, from, to, order });
      const options = { ...range, filter: { ...filter, timeframe }, page, limit, now: clock.now() };
      const { rows, total } = await readList(db, 'price-logs', options);
      return { priceLogs: rows.map(isoDates), total };
    },
  );

  registerChoiceRoutes(app, deps, 'price-logs');

  app.get(
    '/api/price-logs/hash/:hashValue',
    admin({ params: hashParams, answer: priceLogDetail }),
    async ({ params: { hashValue } }) => {
      const row = required(await findPriceLogByHash(db, hashValue), 'priceLogNotFound');
      const priceLog = isoDates(row);
      const figure = figureReader(row.parameters);
      return {
        ...priceLog,
        open: figure('open'),
        high: figure('high'),
        low: figure('low'),
        close: row.price,
        volume: figure('volume'),
        timestamp: priceLog.candleTimeServer,
        received_at: priceLog.receivedAt,
      };
    },
  );

  app.get(
    '/api/price-logs/candles',
    admin({ querystring: candlesQuery, answer: candlesAnswer }),
    async ({ query: { token, timeframe, until = null, limit, priceLogId } }) => {
      const priceLog =
        priceLogId === undefined ? null : required(await findPriceLog(db, priceLogId), 'priceLogNotFound');
      const { hookId = null, processor = null } = priceLog ?? {};
      const series = await findSeries(db, { token, timeframe, hookId, processor });
      return { candles: await listCandlesUntil(db, { series, until, limit }) };
    },
  );
}
