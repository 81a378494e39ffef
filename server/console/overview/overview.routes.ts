import { overviewAnswer, tradingStatesAnswer } from '#contract/overview.ts';
import type { Deps } from '#server/deps.ts';
import { getUser } from '#server/platform/http/access.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { createOverview } from './read-overview.ts';
import { listTradingStates } from './trading-states.ts';

export function registerOverviewRoutes(app: App, deps: Deps): void {
  const readOverview = createOverview(deps);
  const admin = routeOptions({ access: 'admin' });
  const user = routeOptions({ access: 'user' });

  app.get('/api/overview', admin({ answer: overviewAnswer }), () => readOverview());

  app.get('/api/my-overview', user({ answer: overviewAnswer }), (request) =>
    readOverview({ userId: getUser(request).id }),
  );

  app.get('/api/trading-states', admin({ answer: tradingStatesAnswer }), () => listTradingStates(deps));
}
