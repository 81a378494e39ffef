import { idParams } from '#contract/paging.ts';
import {
  myTradingHaltsAnswer,
  type TradingHaltView,
  tradingHalt,
  tradingHaltsAnswer,
} from '#contract/trading-halts.ts';
import type { Deps } from '#server/deps.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { isoDates } from '#server/platform/iso-dates.ts';
import {
  endHalt,
  findNamedHalt,
  haltName,
  listEndedHalts,
  listOpenHalts,
  type NamedHalt,
  noteResumed,
} from './trading-halts.store.ts';

const ENDED_SHOWN = 20;

export function registerTradingHaltRoutes(
  app: App,
  deps: Pick<Deps, 'audit' | 'config' | 'db' | 'clock'>,
): void {
  const tags = ['trading halts'];
  const admin = routeOptions({ access: 'admin', tags });
  const user = routeOptions({ access: 'user', tags });

  app.get('/api/admin/trading-halts', admin({ answer: tradingHaltsAnswer }), async () => ({
    halts: (await listOpenHalts(deps.db)).map(toView),
    ended: (await listEndedHalts(deps.db, { limit: ENDED_SHOWN })).map(toView),
  }));

  app.get('/api/my-trading-halts', user({ answer: myTradingHaltsAnswer }), async (request) => ({
    halts: (await listOpenHalts(deps.db, { userId: getUser(request).id })).map(toView),
  }));

  app.post(
    '/api/admin/trading-halts/:id/resume',
    admin({
      write: { stepUp: 'always', audit: ['trading resumed'], token: 'admin' },
      params: idParams,
      answer: tradingHalt,
    }),
    async (request) => {
      const by = getUser(request).id;
      const { id } = request.params;
      // Refused until the exchange shows the position closed or protected (docs/decisions/0008).
      const found = await deps.db.transaction(async (tx) => {
        const ended = await endHalt(tx, { id, by, now: deps.clock.now() });
        const named = required(await findNamedHalt(tx, id), 'tradingHaltNotFound');
        const { endedAt, userId, token, reason } = named.halt;
        if (!ended) throw new AppError(endedAt === null ? 'tradingHaltNotCleared' : 'tradingHaltEnded');
        await deps.audit.record(tx, {
          actor: actorOf(request, deps.config),
          action: 'trading resumed',
          subject: { kind: 'halt', id, name: haltName(token, named.username) },
          before: { reason },
          after: { userId },
        });
        await noteResumed(tx, [{ userId, token }], deps.clock.now());
        return named;
      });
      const { userId, token, reason } = found.halt;
      request.log.info({ haltId: id, userId, token, reason, by }, 'trading of a halted user was resumed');
      return toView(found);
    },
  );
}

const toView = ({ halt, username, endedByName }: NamedHalt): TradingHaltView => ({
  ...isoDates(halt),
  username,
  endedBy: endedByName,
});
