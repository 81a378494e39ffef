import { messageAnswer } from '#contract/auth.ts';
import {
  type AdminHook,
  adminHook,
  adminHookBody,
  adminHooksAnswer,
  adminHooksQuery,
  deleteHookBody,
} from '#contract/hooks.ts';
import { idParams } from '#contract/paging.ts';
import type { Deps } from '#server/deps.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { getUser, requireStepUp } from '#server/platform/http/access.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { checkOwnPassword } from '../auth/check-password.ts';
import { maskHookKey, openHookKey } from './hook-keys.ts';
import { findHookWithOwner, type HookWithOwner, listAllHooks } from './hooks.store.ts';
import { deleteHook, renewHook, suspendHook } from './manage-hooks.ts';

const admin = routeOptions({ access: 'admin' });

/** The webhooks of all users with masked keys: only the owner can read a key, after a password check. */
export function registerAdminHookRoutes(
  app: App,
  deps: Pick<Deps, 'audit' | 'config' | 'clock' | 'db' | 'limitPasswordAttempts' | 'secretBox'>,
): void {
  app.get(
    '/api/admin/hooks',
    admin({ querystring: adminHooksQuery, answer: adminHooksAnswer }),
    async ({ query }) => {
      const { rows, total } = await listAllHooks(deps.db, query);
      return { hooks: rows.map(toAdminHook), total };
    },
  );

  app.put(
    '/api/admin/hooks/:id',
    admin({
      write: {
        stepUp: 'handler',
        audit: ['webhook key renewed', 'webhook suspended', 'webhook suspension lifted'],
        token: null,
      },
      params: idParams,
      body: adminHookBody,
      answer: adminHook,
    }),
    async (request) => {
      const { id } = request.params;
      const { suspended, password = '' } = request.body;
      const { hook, owner } = await findHook(id);
      const { userId } = hook;
      const by = { actor: actorOf(request, deps.config), owner: owner.username };
      const logged = { webhookId: id, userId, by: getUser(request).id };
      if (suspended === undefined) {
        await checkOwnPassword(deps, request, password);
        await renewHook(deps, { id, userId, ...by });
        request.log.info(logged, 'webhook key renewed by an administrator');
      } else {
        if (!suspended) requireStepUp(request, deps.clock.now());
        await suspendHook(deps, { id, suspended, ...by });
        request.log.info(logged, suspended ? 'webhook suspended' : 'webhook suspension lifted');
      }
      return toAdminHook(await findHook(id));
    },
  );

  app.delete(
    '/api/admin/hooks/:id',
    admin({
      write: { stepUp: 'password', audit: ['webhook deleted'], token: null },
      params: idParams,
      body: deleteHookBody,
      answer: messageAnswer,
    }),
    async (request) => {
      const { id } = request.params;
      const { hook, owner } = await findHook(id);
      const { userId } = hook;
      await checkOwnPassword(deps, request, request.body.password);
      const actor = actorOf(request, deps.config);
      const removed = { id, evenSuspended: true, actor, owner: owner.username };
      if (!(await deleteHook(deps, removed))) throw new AppError('webhookNotFound');
      const by = getUser(request).id;
      request.log.info({ webhookId: id, userId, by }, 'webhook deleted by an administrator');
      return { message: 'Webhook deleted' };
    },
  );

  const findHook = async (id: string) => required(await findHookWithOwner(deps.db, id), 'webhookNotFound');

  function toAdminHook({ hook, owner }: HookWithOwner): AdminHook {
    return {
      id: hook.id,
      name: hook.name,
      userId: hook.userId,
      username: owner.username,
      userActive: owner.isActive,
      isAdmin: owner.isAdmin,
      hookKey: maskHookKey(openHookKey(deps.secretBox, hook) ?? ''),
      createdAt: hook.createdAt.toISOString(),
      suspendedAt: hook.suspendedAt?.toISOString() ?? null,
      lastDeliveryAt: hook.lastUsedAt?.toISOString() ?? null,
    };
  }
}
