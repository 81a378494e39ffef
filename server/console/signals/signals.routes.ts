import { idParams } from '#contract/paging.ts';
import { signalDetail, signalStats, signalsAnswer, signalsQuery } from '#contract/signals.ts';
import { registerChoiceRoutes } from '#server/console/price-logs/choices.routes.ts';
import type { Deps } from '#server/deps.ts';
import { arePriceLogsKept, findSignalPriceLog } from '#server/engine/sizing/match-price-log.ts';
import { findSignal } from '#server/ingest/stored-signals.ts';
import { required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { listSignals, withOutcomes } from './signals.store.ts';
import { createLastDays, readSignalStats } from './signals-per-day.ts';

export function registerSignalRoutes(app: App, deps: Deps): void {
  const { db, clock } = deps;
  const admin = routeOptions({ access: 'admin', tags: ['signals'] });

  app.get(
    '/api/signals',
    admin({ querystring: signalsQuery, answer: signalsAnswer }),
    ({ query: { page, limit, ...filter } }) => listSignals(db, { filter, page, limit, now: clock.now() }),
  );

  const lastDays = createLastDays(deps.config.displayTimezone);
  app.get('/api/signals/stats', admin({ answer: signalStats }), () =>
    readSignalStats(db, lastDays(clock.now())),
  );

  registerChoiceRoutes(app, deps, 'signals');

  app.get(
    '/api/signals/:id',
    admin({ params: idParams, answer: signalDetail }),
    async ({ params: { id } }) => {
      const row = required(await findSignal(db, id), 'signalNotFound');
      const [found] = await withOutcomes(db, [row]);
      const signal = required(found, 'signalNotFound');
      const priceLog = await findSignalPriceLog(db, row);
      return {
        ...signal,
        priceLogId: priceLog?.id ?? null,
        priceLogHash: priceLog?.hashValue ?? null,
        priceLogsKept: priceLog !== null || (await arePriceLogsKept(db, row)),
        originalTimeTrading: signal.signalTimeTradingview,
        candleTimeServer: signal.signalTimeServer,
        receivedAtServer: signal.receivedAt,
      };
    },
  );
}
