import { z } from 'zod';
import { idParams } from '#contract/paging.ts';
import { type Signal, signalDetail, signalStats, signalsAnswer, signalsQuery } from '#contract/signals.ts';
import { distinctTimeframes } from '#domain/timeframe.ts';
import type { Deps } from '#server/deps.ts';
import { arePriceLogsKept, matchPriceLog } from '#server/engine/sizing/match-price-log.ts';
import { findSignal } from '#server/ingest/stored-signals.ts';
import { listChoices } from '#server/platform/db/list-totals/list-choices.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { listSignals, type SignalSummary, summarise } from './signals.store.ts';
import { createLastDays, readSignalStats } from './signals-per-day.ts';

const config = { access: 'admin' } as const;
const tags = ['signals'];

export function registerSignalRoutes(app: App, deps: Deps): void {
  const { db } = deps;

  app.get(
    '/api/signals',
    { config, schema: { tags, querystring: signalsQuery, response: { 200: signalsAnswer } } },
    async ({ query: { page, limit, ...filter } }) => {
      const { rows, total } = await listSignals(db, { filter, page, limit, now: deps.clock.now() });
      return { signals: rows.map(toSignal), total };
    },
  );

  const lastDays = createLastDays(deps.config.displayTimezone);
  app.get('/api/signals/stats', { config, schema: { tags, response: { 200: signalStats } } }, async () => {
    return await readSignalStats(db, lastDays(deps.clock.now()));
  });

  for (const [path, column] of [
    ['tokens', 'token'],
    ['processors', 'processor'],
  ] as const) {
    app.get(
      `/api/signals/${path}`,
      { config, schema: { tags, response: { 200: z.array(z.string()) } } },
      (request) => listChoices(db, 'signals', column, getUser(request).id),
    );
  }

  app.get(
    '/api/signals/timeframes',
    { config, schema: { tags, response: { 200: z.array(z.string()) } } },
    async (request) => distinctTimeframes(await listChoices(db, 'signals', 'timeframe', getUser(request).id)),
  );

  app.get(
    '/api/signals/:id',
    { config, schema: { tags, params: idParams, response: { 200: signalDetail } } },
    async ({ params: { id } }) => {
      const row = await findSignal(db, id);
      const [summary] = row === null ? [] : await summarise(db, [row]);
      if (row === null || summary === undefined) throw new AppError('signalNotFound');
      const priceLog = await matchPriceLog(db, row);
      return {
        ...toSignal(summary),
        priceLogId: priceLog?.id ?? null,
        priceLogHash: priceLog?.hashValue ?? null,
        priceLogsKept: priceLog !== null || (await arePriceLogsKept(db, row)),
        originalTimeTrading: row.signalTimeTradingview,
        candleTimeServer: row.signalTimeServer?.toISOString() ?? null,
        receivedAtServer: row.receivedAt.toISOString(),
      };
    },
  );
}

/** The response schema drops the columns that screens do not show. */
const toSignal = ({ signal, ...summary }: SignalSummary): Signal => ({
  ...signal,
  signalTimeServer: signal.signalTimeServer?.toISOString() ?? null,
  receivedAt: signal.receivedAt.toISOString(),
  ...summary,
});
