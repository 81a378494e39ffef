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
import { getUser } from '#server/platform/http/access.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { checkOwnPassword } from '../auth/check-password.ts';
import { maskHookKey, openHookKey } from './hook-keys.ts';
import {
  deleteAnyHook,
  findHookWithOwner,
  type HookWithOwner,
  listAllHooks,
  setHookSuspended,
} from './hooks.store.ts';
import { renewHook } from './manage-hooks.ts';

const config = { access: 'admin' } as const;

/** The webhooks of all users with masked keys: only the owner can read a key, after a password check. */
export function registerAdminHookRoutes(
  app: App,
  deps: Pick<Deps, 'config' | 'clock' | 'db' | 'pool' | 'secretBox'>,
): void {
  app.get(
    '/api/admin/hooks',
    { config, schema: { querystring: adminHooksQuery, response: { 200: adminHooksAnswer } } },
    async ({ query }) => {
      const { rows, total } = await listAllHooks(deps.db, query);
      return { hooks: rows.map(toAdminHook), total };
    },
  );

  app.put(
    '/api/admin/hooks/:id',
    { config, schema: { params: idParams, body: adminHookBody, response: { 200: adminHook } } },
    async (request) => {
      const { id } = request.params;
      const { suspended, password = '' } = request.body;
      const { userId } = (await findHook(id)).hook;
      const logged = { webhookId: id, userId, by: getUser(request).id };
      if (suspended === undefined) {
        await checkOwnPassword(deps, request, password);
        await renewHook(deps, { id, userId });
        request.log.info(logged, 'webhook key renewed by an administrator');
      } else {
        await setHookSuspended(deps.db, { id, suspended, now: deps.clock.now() });
        request.log.info(logged, suspended ? 'webhook suspended' : 'webhook suspension lifted');
      }
      return toAdminHook(await findHook(id));
    },
  );

  app.delete(
    '/api/admin/hooks/:id',
    { config, schema: { params: idParams, body: deleteHookBody, response: { 200: messageAnswer } } },
    async (request) => {
      const { id } = request.params;
      const { userId } = (await findHook(id)).hook;
      await checkOwnPassword(deps, request, request.body.password);
      if (!(await deleteAnyHook(deps.db, id))) throw new AppError('webhookNotFound');
      const by = getUser(request).id;
      request.log.info({ webhookId: id, userId, by }, 'webhook deleted by an administrator');
      return { message: 'Webhook deleted' };
    },
  );

  async function findHook(id: string): Promise<HookWithOwner> {
    const found = await findHookWithOwner(deps.db, id);
    if (found === null) throw new AppError('webhookNotFound');
    return found;
  }

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
