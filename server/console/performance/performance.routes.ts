import {
  calendarAnswer,
  calendarQuery,
  closedTradesAnswer,
  closedTradesQuery,
  equityAnswer,
  equityQuery,
  equityTrendsAnswer,
  performanceAnswer,
  performanceQuery,
  resultChoices,
} from '#contract/performance.ts';
import type { Deps } from '#server/deps.ts';
import { getUser } from '#server/platform/http/access.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { listResultValues } from './performance.store.ts';
import { readEquity, readEquityTrends } from './read-equity.ts';
import { readCalendar, readClosedTrades, readPerformance } from './read-performance.ts';

/** What closed trades brought: of all users for administrators, the caller's own for others. */
export function registerPerformanceRoutes(app: App, deps: Deps): void {
  const user = routeOptions({ access: 'user', tags: ['performance'] });

  app.get('/api/performance', user({ querystring: performanceQuery, answer: performanceAnswer }), (request) =>
    readPerformance(deps, getUser(request), request.query),
  );

  app.get(
    '/api/performance/calendar',
    user({ querystring: calendarQuery, answer: calendarAnswer }),
    (request) => readCalendar(deps, getUser(request), request.query),
  );

  app.get(
    '/api/performance/trades',
    user({ querystring: closedTradesQuery, answer: closedTradesAnswer }),
    (request) => readClosedTrades(deps, getUser(request), request.query),
  );

  app.get('/api/performance/equity', user({ querystring: equityQuery, answer: equityAnswer }), (request) =>
    readEquity(deps, getUser(request), request.query),
  );

  app.get('/api/performance/equity/accounts', user({ answer: equityTrendsAnswer }), (request) =>
    readEquityTrends(deps, getUser(request)),
  );

  app.get('/api/performance/choices', user({ answer: resultChoices }), async (request) => {
    const { id, isAdmin } = getUser(request);
    const { users, processors, tokens, timeframes, methods } = await listResultValues(
      deps.db,
      isAdmin ? undefined : id,
    );
    return {
      users,
      processors: processors ?? [],
      tokens: tokens ?? [],
      timeframes: timeframes ?? [],
      sizingMethods: methods ?? [],
    };
  });
}
