import { idParams } from '#contract/paging.ts';
import {
  myTradingHaltsAnswer,
  type TradingHaltView,
  tradingHalt,
  tradingHaltsAnswer,
} from '#contract/trading-halts.ts';
import type { Deps } from '#server/deps.ts';
import { getUser } from '#server/platform/http/access.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { resumeTrading } from './resume-trading.ts';
import { listEndedHalts, listOpenHalts, type NamedHalt } from './trading-halts.store.ts';

const tags = ['trading halts'];
const ENDED_SHOWN = 20;

export function registerTradingHaltRoutes(app: App, deps: Pick<Deps, 'db' | 'clock'>): void {
  app.get(
    '/api/admin/trading-halts',
    { config: { access: 'admin' }, schema: { tags, response: { 200: tradingHaltsAnswer } } },
    async () => ({
      halts: (await listOpenHalts(deps.db)).map(toView),
      ended: (await listEndedHalts(deps.db, { limit: ENDED_SHOWN })).map(toView),
    }),
  );

  app.get(
    '/api/my-trading-halts',
    { config: { access: 'user' }, schema: { tags, response: { 200: myTradingHaltsAnswer } } },
    async (request) => ({
      halts: (await listOpenHalts(deps.db, { userId: getUser(request).id })).map(toView),
    }),
  );

  app.post(
    '/api/admin/trading-halts/:id/resume',
    {
      config: { access: 'admin' },
      schema: { tags, params: idParams, response: { 200: tradingHalt } },
    },
    async (request) => {
      const by = getUser(request).id;
      const halt = await resumeTrading(deps, { id: request.params.id, by });
      const { id, userId, token, reason } = halt.halt;
      request.log.info({ haltId: id, userId, token, reason, by }, 'trading of a halted user was resumed');
      return toView(halt);
    },
  );
}

const toView = ({ halt, username, endedByName }: NamedHalt): TradingHaltView => ({
  ...halt,
  username,
  since: halt.since.toISOString(),
  clearedAt: halt.clearedAt?.toISOString() ?? null,
  endedAt: halt.endedAt?.toISOString() ?? null,
  endedBy: endedByName,
});
