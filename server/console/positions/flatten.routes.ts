import { z } from 'zod';
import { closeAllBody, closeAllProgress, closeAllRuns, closeAllStarted } from '#contract/close-all.ts';
import { idParams } from '#contract/paging.ts';
import { nameOf } from '#server/admin/stops/stop-entries.ts';
import { findUser } from '#server/admin/users/users.store.ts';
import type { Deps } from '#server/deps.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { endFlatten, findFlatten, listFlattens, readProgress } from './flatten.store.ts';
import { requestFlatten } from './request-flatten.ts';

const tags = ['positions'];
/** How long an ended closing is listed. */
const SHOWN_MS = 5 * 60_000;

/** Closing every position that was opened here within a scope. */
export function registerFlattenRoutes(
  app: App,
  deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'jobs' | 'log'>,
): void {
  const { audit, clock, config, db } = deps;
  const admin = routeOptions({ access: 'admin', tags });

  app.post(
    '/api/positions/close-all',
    {
      config: {
        access: 'admin',
        write: {
          stepUp: 'always',
          audit: ['new entries stopped', 'closing of all positions requested'],
          token: 'trade',
        },
      },
      schema: { tags, body: closeAllBody, response: { 202: closeAllStarted } },
    },
    async (request, reply) => {
      const { scope, stop: staysStopped } = request.body;
      const by = actorOf(request, config);
      const { id: userId } = getUser(request);
      if (scope.kind === 'user' && scope.value !== null)
        required(await findUser(db, scope.value), 'userNotFound');
      const id = await requestFlatten(deps, { scope, staysStopped, by, userId });
      return reply.code(202).send({ id });
    },
  );

  app.get('/api/positions/close-all', admin({ answer: closeAllRuns }), async () => {
    const rows = await listFlattens(db, { endedAfter: new Date(clock.now().getTime() - SHOWN_MS) });
    const progress = await readProgress(db, rows);
    return rows.flatMap(({ id, scopeKind: kind, scopeValue: value, createdAt, actor }) => {
      const own = progress.get(id);
      if (own === undefined) return [];
      return [
        { id, scope: { kind, value }, createdAt: createdAt.toISOString(), createdBy: actor.name, ...own },
      ];
    });
  });

  app.get(
    '/api/positions/close-all/:id',
    admin({ params: idParams, answer: closeAllProgress }),
    async ({ params }) => {
      const row = required(await findFlatten(db, params.id), 'closeAllNotFound');
      return required((await readProgress(db, [row])).get(row.id) ?? null, 'closeAllNotFound');
    },
  );

  app.delete(
    '/api/positions/close-all/:id',
    {
      config: {
        access: 'admin',
        write: { stepUp: 'never', audit: ['closing of all positions dismissed'], token: 'trade' },
      },
      schema: { tags, params: idParams, response: { 204: z.null() } },
    },
    async (request, reply) => {
      const { id } = request.params;
      await db.transaction(async (tx) => {
        const row = required(await findFlatten(tx, id), 'closeAllNotFound');
        if (!(await endFlatten(tx, { id, now: clock.now() }))) throw new AppError('closeAllEnded');
        const scope = { kind: row.scopeKind, value: row.scopeValue };
        await audit.record(tx, {
          actor: actorOf(request, config),
          action: 'closing of all positions dismissed',
          subject: { kind: 'position', id: null, name: await nameOf(tx, scope) },
          before: { id },
        });
      });
      return reply.code(204).send(null);
    },
  );
}
