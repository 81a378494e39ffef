import type { FastifyRequest } from 'fastify';
import { messageAnswer } from '#contract/auth.ts';
import { idParams, userIdParams } from '#contract/paging.ts';
import {
  activeTradingBody,
  createUserBody,
  statusBody,
  userAnswer,
  userNames,
  usersAnswer,
  usersQuery,
} from '#contract/users.ts';
import type { Deps } from '#server/deps.ts';
import { aboutUser } from '#server/platform/audit/audit-subjects.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { getUser, requireStepUp } from '#server/platform/http/access.ts';
import { endSessionsOf } from '#server/platform/http/access-sessions.ts';
import { endTokensOf } from '#server/platform/http/access-tokens.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { optionalPage } from '#server/platform/http/optional-page.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import type { WriteRule } from '#server/platform/http/write-rules.ts';
import { createUser } from './create-user.ts';
import { toUser } from './user-rows.ts';
import {
  countUsers,
  findUser,
  listUserNames,
  listUsers,
  setActiveTrading,
  setUserActive,
} from './users.store.ts';

const admin = routeOptions({ access: 'admin' });
const DEFAULT_PAGE_SIZE = 10;
const statusWrite: WriteRule = {
  stepUp: 'handler',
  audit: ['user deactivated', 'user reactivated'],
  token: 'admin',
};

export function registerUserRoutes(app: App, deps: Pick<Deps, 'audit' | 'config' | 'clock' | 'db'>): void {
  const isPaper = deps.config.exchangeMode === 'paper';

  app.get(
    '/api/admin/users',
    admin({ querystring: usersQuery, answer: usersAnswer }),
    async ({ query: { includeInactive, search, sort, direction, ...query } }) => {
      const page = optionalPage(query, DEFAULT_PAGE_SIZE);
      // Without paging: every user, including inactive users.
      const filter = { includeInactive: includeInactive || page === null, search };
      const order = sort === undefined ? undefined : { sort, direction };
      const rows = await listUsers(deps.db, { ...filter, order, page });
      const total = page === null ? rows.length : await countUsers(deps.db, filter);
      return { users: rows.map(({ user, settings }) => toUser(user, settings)), total };
    },
  );

  app.get('/api/users', admin({ answer: userNames }), () => listUserNames(deps.db));

  app.get(
    '/api/admin/user/:userId',
    admin({ params: userIdParams, answer: userAnswer }),
    async ({ params: { userId } }) => {
      const { user, settings } = required(await findUser(deps.db, userId), 'userNotFound');
      return { user: toUser(user, settings) };
    },
  );

  app.post(
    '/api/admin/create-client',
    {
      config: { access: 'admin', write: { stepUp: 'handler', audit: ['user created'], token: 'admin' } },
      schema: { body: createUserBody, response: { 201: userAnswer } },
    },
    async (request, reply) => {
      // In paper mode no money moves; an administrator is more than that.
      if (request.body.isAdmin || !isPaper) requireStepUp(request, deps.clock.now());
      const user = await createUser(deps, { ...request.body, actor: actorOf(request, deps.config) });
      request.log.info({ userId: user.id, by: getUser(request).id }, 'user created');
      return reply.code(201).send({ user });
    },
  );

  app.put(
    '/api/admin/user/:userId/active-trading',
    admin({
      write: {
        stepUp: 'handler',
        audit: ['active trading switched on', 'active trading switched off'],
        token: 'admin',
      },
      params: userIdParams,
      body: activeTradingBody,
      answer: messageAnswer,
    }),
    async (request) => {
      const { userId } = request.params;
      const { activeTrading } = request.body;
      required(await findUser(deps.db, userId), 'userNotFound');
      if (activeTrading && !isPaper) requireStepUp(request, deps.clock.now());
      await deps.db.transaction(async (tx) => {
        const { user, settings } = required(await findUser(tx, userId), 'userNotFound');
        const found = await setActiveTrading(tx, { userId, activeTrading, now: deps.clock.now() });
        if (!found) throw new AppError('settingsNotFound');
        await deps.audit.record(tx, {
          actor: actorOf(request, deps.config),
          action: activeTrading ? 'active trading switched on' : 'active trading switched off',
          subject: aboutUser(user),
          before: { activeTrading: settings?.activeTrading ?? null },
          after: { activeTrading },
        });
      });
      request.log.info({ userId, activeTrading, by: getUser(request).id }, 'active trading changed');
      return { message: activeTrading ? 'Active trading is on' : 'Active trading is off' };
    },
  );

  /** Deactivation ends the user's sessions and API tokens in the same transaction. */
  async function changeStatus(request: FastifyRequest, userId: string, isActive: boolean) {
    const by = getUser(request).id;
    if (!isActive && userId === by) throw new AppError('ownAccount');
    if (isActive) requireStepUp(request, deps.clock.now());
    await deps.db.transaction(async (tx) => {
      const { user } = required(await findUser(tx, userId), 'userNotFound');
      await setUserActive(tx, { id: userId, isActive, now: deps.clock.now() });
      await deps.audit.record(tx, {
        actor: actorOf(request, deps.config),
        action: isActive ? 'user reactivated' : 'user deactivated',
        subject: aboutUser(user),
        before: { isActive: user.isActive },
        after: { isActive },
      });
      if (isActive) return;
      await endSessionsOf({ db: tx, userId });
      await endTokensOf({ db: tx, userId });
    });
    request.log.info({ userId, isActive, by }, 'user status changed');
    return { message: isActive ? 'User is active' : 'User is inactive' };
  }

  app.put(
    '/api/admin/user/:userId/status',
    admin({ write: statusWrite, params: userIdParams, body: statusBody, answer: messageAnswer }),
    (request) => changeStatus(request, request.params.userId, request.body.isActive),
  );

  for (const [action, isActive, entry] of [
    ['deactivate', false, 'user deactivated'],
    ['reactivate', true, 'user reactivated'],
  ] as const) {
    app.patch(
      `/api/admin/users/:id/${action}`,
      admin({ write: { ...statusWrite, audit: [entry] }, params: idParams, answer: messageAnswer }),
      (request) => changeStatus(request, request.params.id, isActive),
    );
  }
}
