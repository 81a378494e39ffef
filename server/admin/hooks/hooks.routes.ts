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
import { getSession, getUser } from '#server/platform/http/access.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { checkOwnPassword } from '../auth/check-password.ts';
import { registerAdminHookRoutes } from './admin-hooks.routes.ts';
import { deleteOwnHook, findOwnHook, type HookRow, listDeliveries } from './hooks.store.ts';
import { createHook, renewHook, showHooks } from './manage-hooks.ts';

const SHOWN_DELIVERIES = 50;
const config = { access: 'user' } as const;

export function registerHookRoutes(
  app: App,
  deps: Pick<Deps, 'config' | 'clock' | 'db' | 'log' | 'pool' | 'secretBox'>,
): void {
  app.get('/api/hooks', { config, schema: { response: { 200: webhooks } } }, (request) => {
    const { user, keyRevealedUntil } = getSession(request);
    return showHooks(deps, { userId: user.id, keyRevealedUntil });
  });

  app.post(
    '/api/hooks',
    { config, schema: { body: createHookBody, response: { 201: webhook } } },
    async (request, reply) => {
      const { id: userId } = getUser(request);
      const created = await createHook(deps, { userId, name: request.body.name });
      request.log.info({ userId, webhookId: created.id }, 'webhook created');
      return reply.code(201).send(created);
    },
  );

  app.put(
    '/api/hooks/:id',
    { config, schema: { params: idParams, body: renewHookBody, response: { 200: webhook } } },
    async (request) => {
      const { id, userId } = await ownHook(request, request.params.id);
      await checkOwnPassword(deps, request, request.body.password);
      const renewed = await renewHook(deps, { id, userId, name: request.body.name });
      request.log.info({ userId, webhookId: id }, 'webhook key renewed');
      return renewed;
    },
  );

  app.delete(
    '/api/hooks/:id',
    { config, schema: { params: idParams, body: deleteHookBody, response: { 200: messageAnswer } } },
    async (request) => {
      const { id, userId } = await ownHook(request, request.params.id);
      await checkOwnPassword(deps, request, request.body.password);
      if (!(await deleteOwnHook(deps.db, { id, userId }))) {
        await ownHook(request, id);
        throw new AppError('webhookSuspended');
      }
      request.log.info({ userId, webhookId: id }, 'webhook deleted');
      return { message: 'Webhook deleted' };
    },
  );

  app.get(
    '/api/hooks/:id/deliveries',
    { config, schema: { params: idParams, response: { 200: deliveries } } },
    async (request) => {
      const { id: hookId } = await ownHook(request, request.params.id);
      const rows = await listDeliveries(deps.db, { hookId, limit: SHOWN_DELIVERIES });
      return rows.map((row) => ({ ...row, receivedAt: row.receivedAt.toISOString() }));
    },
  );

  registerAdminHookRoutes(app, deps);

  async function ownHook(request: FastifyRequest, id: string): Promise<HookRow> {
    const hook = await findOwnHook(deps.db, { id, userId: getUser(request).id });
    if (hook === null) throw new AppError('webhookNotFound');
    return hook;
  }
}
