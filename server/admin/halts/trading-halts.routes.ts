import { idParams } from '#contract/paging.ts';
import {
  myTradingHaltsAnswer,
  type TradingHaltView,
  tradingHalt,
  tradingHaltsAnswer,
} from '#contract/trading-halts.ts';
import type { Deps } from '#server/deps.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import {
  endHalt,
  findNamedHalt,
  listEndedHalts,
  listOpenHalts,
  type NamedHalt,
} from './trading-halts.store.ts';

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
      const { id } = request.params;
      // Refused until the exchange shows the position closed or protected (docs/decisions/0008).
      const ended = await endHalt(deps.db, { id, by, now: deps.clock.now() });
      const found = await findNamedHalt(deps.db, id);
      if (found === null) throw new AppError('tradingHaltNotFound');
      const { endedAt, userId, token, reason } = found.halt;
      if (!ended) throw new AppError(endedAt === null ? 'tradingHaltNotCleared' : 'tradingHaltEnded');
      request.log.info({ haltId: id, userId, token, reason, by }, 'trading of a halted user was resumed');
      return toView(found);
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
