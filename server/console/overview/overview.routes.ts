import { overviewAnswer, tradingStatesAnswer } from '#contract/overview.ts';
import type { Deps } from '#server/deps.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import { getUser } from '#server/platform/http/access.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { createBalanceReader } from './balance-reader.ts';
import { readOverview } from './read-overview.ts';
import { readTradingStates } from './trading-states.ts';

export function registerOverviewRoutes(app: App, deps: Deps): void {
  const readers = { positions: createAccountReader(deps), balances: createBalanceReader(deps) };
  const admin = routeOptions({ access: 'admin' });
  const user = routeOptions({ access: 'user' });

  app.get('/api/overview', admin({ answer: overviewAnswer }), () => readOverview(deps, readers));

  app.get('/api/my-overview', user({ answer: overviewAnswer }), (request) =>
    readOverview(deps, readers, { userId: getUser(request).id }),
  );

  app.get('/api/trading-states', admin({ answer: tradingStatesAnswer }), async () => ({
    states: [...(await readTradingStates(deps)).values()],
  }));
}
