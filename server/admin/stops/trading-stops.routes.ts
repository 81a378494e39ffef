import { z } from 'zod';
import {
  createTradingStopBody,
  PAUSE_PREFIX,
  type TradingStopView,
  tradingStop,
  tradingStopParams,
  tradingStopsAnswer,
} from '#contract/trading-stops.ts';
import type { StopScope } from '#domain/orders/trading-stop.ts';
import type { Deps } from '#server/deps.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { getUser, requireStepUp } from '#server/platform/http/access.ts';
import { AppError, invalidFields, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';
import { listPauses } from '../settings/settings.store.ts';
import { findUser } from '../users/users.store.ts';
import { nameOf, stopEntries, userOf } from './stop-entries.ts';
import { endStop, findStopRow, listStopRows, type StopRow } from './trading-stops.store.ts';

const tags = ['trading stops'];
const user = routeOptions({ access: 'user', tags });

/**
 * Stops of new entries. An administrator makes and lifts all of them; an ordinary user makes them for themselves, and
 * lifts only their own: what the operator has stopped, they cannot loosen.
 */
export function registerTradingStopRoutes(
  app: App,
  deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'jobs'>,
): void {
  const { audit, clock, config, db } = deps;

  app.get('/api/trading-stops', user({ answer: tradingStopsAnswer }), async (request) => {
    const now = clock.now();
    const viewer = getUser(request);
    const [stops, pauses] = await Promise.all([
      listStopRows(db, now),
      listPauses(db, { now, userId: viewer.isAdmin ? null : viewer.id }),
    ]);
    return [...stops.filter((stop) => isVisibleTo(viewer, stop)).map(toView), ...pauses.map(pauseView)];
  });

  app.post(
    '/api/trading-stops',
    {
      config: {
        access: 'user',
        write: { stepUp: 'never', audit: ['new entries stopped'], token: 'trade' },
      },
      schema: { tags, body: createTradingStopBody, response: { 201: tradingStop } },
    },
    async (request, reply) => {
      const { scope, reason = null, until: untilText } = request.body;
      const { id: userId, isAdmin } = getUser(request);
      if (!isAdmin && !isOwn(scope, userId)) throw new AppError('adminOnly');
      const until = untilText === undefined ? null : new Date(untilText);
      if (until !== null && until <= clock.now()) {
        throw invalidFields([{ path: 'until', message: 'until must be in the future' }]);
      }
      if (scope.kind === 'user' && scope.value !== null)
        required(await findUser(db, scope.value), 'userNotFound');
      const by = actorOf(request, config);
      const made = await stopEntries(deps, { scope, reason, until, by, userId });
      request.log.warn({ stopId: made.id, ...scope, reason, by: userId }, 'new entries were stopped');
      return reply.code(201).send(toView(made));
    },
  );

  app.delete(
    '/api/trading-stops/:id',
    {
      config: {
        access: 'user',
        write: { stepUp: 'handler', audit: ['new entries resumed'], token: 'trade' },
      },
      schema: { tags, params: tradingStopParams, response: { 204: z.null() } },
    },
    async (request, reply) => {
      const { id } = request.params;
      const viewer = getUser(request);
      if (id.startsWith(PAUSE_PREFIX)) throw new AppError('pauseOfSettings');
      const now = clock.now();
      const stop = required(isUuid(id) ? await findStopRow(db, { id, now }) : null, 'tradingStopNotFound');
      if (!isVisibleTo(viewer, stop)) throw new AppError('tradingStopNotFound');
      if (!viewer.isAdmin && stop.createdBy !== viewer.id) throw new AppError('adminOnly');
      // What stops everybody, or somebody else, is not lifted with a stolen cookie.
      const scope = scopeOf(stop);
      if (scope.kind === 'all' || (scope.kind === 'user' && !isOwn(scope, viewer.id)))
        requireStepUp(request, now);
      const by = actorOf(request, config);
      await db.transaction(async (tx) => {
        if (!(await endStop(tx, { id, by: by.name, now }))) throw new AppError('tradingStopNotFound');
        await audit.record(tx, {
          actor: by,
          action: 'new entries resumed',
          subject: { kind: 'stop', id, name: await nameOf(tx, scope) },
          before: { scope: { ...scope }, reason: stop.reason, since: stop.createdAt.toISOString() },
        });
        const told = { scope: await nameOf(tx, scope), by: by.name };
        await noteEvents(tx, [{ code: 'stop_lifted', userId: userOf(scope), data: told, at: now }]);
      });
      request.log.warn({ stopId: id, by: viewer.id }, 'a stop of new entries was lifted');
      return reply.code(204).send(null);
    },
  );
}

const isUuid = (text: string) => z.uuid().safeParse(text).success;

const scopeOf = ({ scopeKind: kind, scopeValue: value }: StopRow): StopScope => ({ kind, value });
const isOwn = ({ kind, value }: StopScope, userId: string): boolean => kind === 'user' && value === userId;

/** Others' stops are of no concern to an ordinary user. */
const isVisibleTo = (viewer: { id: string; isAdmin: boolean }, stop: StopRow): boolean =>
  viewer.isAdmin || stop.scopeKind !== 'user' || isOwn(scopeOf(stop), viewer.id);

const toView = (stop: StopRow): TradingStopView => ({
  id: stop.id,
  scope: scopeOf(stop),
  reason: stop.reason,
  createdAt: stop.createdAt.toISOString(),
  createdBy: stop.createdByName,
  until: stop.until?.toISOString() ?? null,
});

const pauseView = ({ userId, until }: { userId: string; until: Date }): TradingStopView => ({
  id: `${PAUSE_PREFIX}${userId}`,
  scope: { kind: 'user', value: userId },
  reason: 'Paused in the settings',
  createdAt: null,
  createdBy: null,
  until: until.toISOString(),
});
