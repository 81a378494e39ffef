import type { FastifyRequest } from 'fastify';
import { messageAnswer } from '#contract/auth.ts';
import {
  createHookBody,
  deleteHookBody,
  deliveries,
  renewHookBody,
  webhook,
  webhooks,
} from '#contract/hooks.ts';
import { idParams } from '#contract/paging.ts';
import type { Deps } from '#server/deps.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { getSession, getUser } from '#server/platform/http/access.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { isoDates } from '#server/platform/iso-dates.ts';
import { checkOwnPassword } from '../auth/check-password.ts';
import { registerAdminHookRoutes } from './admin-hooks.routes.ts';
import { findOwnHook, type HookRow, listDeliveries } from './hooks.store.ts';
import { createHook, deleteHook, renewHook, showHooks } from './manage-hooks.ts';

const SHOWN_DELIVERIES = 50;
const user = routeOptions({ access: 'user' });

export function registerHookRoutes(
  app: App,
  deps: Pick<Deps, 'audit' | 'config' | 'clock' | 'db' | 'log' | 'limitPasswordAttempts' | 'secretBox'>,
): void {
  app.get('/api/hooks', user({ answer: webhooks }), (request) => {
    const { user: owner, keyRevealedUntil } = getSession(request);
    return showHooks(deps, { userId: owner.id, keyRevealedUntil });
  });

  app.post(
    '/api/hooks',
    {
      config: { access: 'user', write: { stepUp: 'outsidePaper', audit: ['webhook created'], token: null } },
      schema: { body: createHookBody, response: { 201: webhook } },
    },
    async (request, reply) => {
      const { id: userId } = getUser(request);
      const created = await createHook(deps, { userId, name: request.body.name, ...byOwner(request) });
      request.log.info({ userId, webhookId: created.id }, 'webhook created');
      return reply.code(201).send(created);
    },
  );

  app.put(
    '/api/hooks/:id',
    user({
      write: { stepUp: 'password', audit: ['webhook key renewed'], token: null },
      params: idParams,
      body: renewHookBody,
      answer: webhook,
    }),
    async (request) => {
      const { id, userId } = await ownHook(request, request.params.id);
      await checkOwnPassword(deps, request, request.body.password);
      const renewed = await renewHook(deps, { id, userId, name: request.body.name, ...byOwner(request) });
      request.log.info({ userId, webhookId: id }, 'webhook key renewed');
      return renewed;
    },
  );

  app.delete(
    '/api/hooks/:id',
    user({
      write: { stepUp: 'password', audit: ['webhook deleted'], token: null },
      params: idParams,
      body: deleteHookBody,
      answer: messageAnswer,
    }),
    async (request) => {
      const { id, userId } = await ownHook(request, request.params.id);
      await checkOwnPassword(deps, request, request.body.password);
      if (!(await deleteHook(deps, { id, evenSuspended: false, ...byOwner(request) }))) {
        await ownHook(request, id);
        throw new AppError('webhookSuspended');
      }
      request.log.info({ userId, webhookId: id }, 'webhook deleted');
      return { message: 'Webhook deleted' };
    },
  );

  app.get('/api/hooks/:id/deliveries', user({ params: idParams, answer: deliveries }), async (request) => {
    const { id: hookId } = await ownHook(request, request.params.id);
    const rows = await listDeliveries(deps.db, { hookId, limit: SHOWN_DELIVERIES });
    return rows.map(({ moreRefused, moreLimited, refusedBody, faultLine, faultColumn, ...row }) => ({
      ...isoDates(row),
      more: moreRefused === null ? null : moreRefused + (moreLimited ?? 0),
      ...(refusedBody !== null && {
        refused: {
          body: refusedBody,
          position:
            faultLine === null || faultColumn === null ? null : { line: faultLine, column: faultColumn },
        },
      }),
    }));
  });

  registerAdminHookRoutes(app, deps);

  const byOwner = (request: FastifyRequest) => ({
    actor: actorOf(request, deps.config),
    owner: getUser(request).username,
  });

  async function ownHook(request: FastifyRequest, id: string): Promise<HookRow> {
    return required(await findOwnHook(deps.db, { id, userId: getUser(request).id }), 'webhookNotFound');
  }
}
