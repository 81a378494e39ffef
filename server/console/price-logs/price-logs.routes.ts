import { candlesAnswer, candlesQuery } from '#contract/charts.ts';
import {
  hashParams,
  type PriceLog,
  type PriceLogDetail,
  priceLogDetail,
  priceLogsAnswer,
  priceLogsQuery,
  stringList,
} from '#contract/price-logs.ts';
import { distinctTimeframes } from '#domain/timeframe.ts';
import type { Deps } from '#server/deps.ts';
import { findPriceLog, findPriceLogByHash, type PriceLogRow } from '#server/ingest/stored-price-logs.ts';
import { listChoices } from '#server/platform/db/list-totals/list-choices.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { figureReader } from './candle-figures.ts';
import { findSeries, listCandlesUntil } from './candles.store.ts';
import { listPriceLogs } from './price-logs.store.ts';

export function registerPriceLogRoutes(app: App, deps: Deps): void {
  const { db } = deps;
  const config = { access: 'admin' } as const;
  const tags = ['price logs'];

  app.get(
    '/api/price-logs',
    { config, schema: { tags, querystring: priceLogsQuery, response: { 200: priceLogsAnswer } } },
    async ({ query: { page, limit, ...filter } }) => {
      const { rows, total } = await listPriceLogs(db, { filter, page, limit, now: deps.clock.now() });
      return { priceLogs: rows.map(toPriceLog), total };
    },
  );

  for (const [path, column] of [
    ['tokens', 'token'],
    ['processors', 'processor'],
  ] as const) {
    app.get(
      `/api/price-logs/${path}`,
      { config, schema: { tags, response: { 200: stringList } } },
      (request) => listChoices(db, 'price-logs', column, getUser(request).id),
    );
  }

  app.get(
    '/api/price-logs/timeframes',
    { config, schema: { tags, response: { 200: stringList } } },
    async (request) =>
      distinctTimeframes(await listChoices(db, 'price-logs', 'timeframe', getUser(request).id)),
  );

  app.get(
    '/api/price-logs/hash/:hashValue',
    { config, schema: { tags, params: hashParams, response: { 200: priceLogDetail } } },
    async ({ params }) => {
      const row = await findPriceLogByHash(db, params.hashValue);
      if (row === null) throw new AppError('priceLogNotFound');
      return toPriceLogDetail(row);
    },
  );

  app.get(
    '/api/price-logs/candles',
    { config, schema: { tags, querystring: candlesQuery, response: { 200: candlesAnswer } } },
    async ({ query: { token, timeframe, until = null, limit, priceLogId } }) => {
      const priceLog = priceLogId === undefined ? null : await findPriceLog(db, priceLogId);
      if (priceLogId !== undefined && priceLog === null) throw new AppError('priceLogNotFound');
      const { hookId = null, processor = null } = priceLog ?? {};
      const series = await findSeries(db, { token, timeframe, hookId, processor });
      return { candles: await listCandlesUntil(db, { series, until, limit }) };
    },
  );
}

/** The response schema drops the columns that screens do not show. */
const toPriceLog = (row: PriceLogRow): PriceLog => ({
  ...row,
  candleTimeServer: row.candleTimeServer.toISOString(),
  receivedAt: row.receivedAt.toISOString(),
});

function toPriceLogDetail(row: PriceLogRow): PriceLogDetail {
  const figure = figureReader(row.parameters);
  return {
    ...toPriceLog(row),
    open: figure('open'),
    high: figure('high'),
    low: figure('low'),
    close: row.price,
    volume: figure('volume'),
    timestamp: row.candleTimeServer.toISOString(),
    received_at: row.receivedAt.toISOString(),
  };
}
