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
import { getUser } from '#server/platform/http/access.ts';
import { endSessionsOf } from '#server/platform/http/access-sessions.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { optionalPage } from '#server/platform/http/optional-page.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
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

export function registerUserRoutes(app: App, deps: Pick<Deps, 'config' | 'clock' | 'db'>): void {
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
    { config: { access: 'admin' }, schema: { body: createUserBody, response: { 201: userAnswer } } },
    async (request, reply) => {
      const user = await createUser(deps, request.body);
      request.log.info({ userId: user.id, by: getUser(request).id }, 'user created');
      return reply.code(201).send({ user });
    },
  );

  app.put(
    '/api/admin/user/:userId/active-trading',
    admin({ params: userIdParams, body: activeTradingBody, answer: messageAnswer }),
    async (request) => {
      const { userId } = request.params;
      const { activeTrading } = request.body;
      required(await findUser(deps.db, userId), 'userNotFound');
      const found = await setActiveTrading(deps.db, { userId, activeTrading, now: deps.clock.now() });
      if (!found) throw new AppError('settingsNotFound');
      request.log.info({ userId, activeTrading, by: getUser(request).id }, 'active trading changed');
      return { message: activeTrading ? 'Active trading is on' : 'Active trading is off' };
    },
  );

  /** Deactivation ends the user's sessions in the same transaction. */
  async function changeStatus(request: FastifyRequest, userId: string, isActive: boolean) {
    const by = getUser(request).id;
    if (!isActive && userId === by) throw new AppError('ownAccount');
    await deps.db.transaction(async (tx) => {
      const found = await setUserActive(tx, { id: userId, isActive, now: deps.clock.now() });
      if (!found) throw new AppError('userNotFound');
      if (!isActive) await endSessionsOf({ db: tx, userId });
    });
    request.log.info({ userId, isActive, by }, 'user status changed');
    return { message: isActive ? 'User is active' : 'User is inactive' };
  }

  app.put(
    '/api/admin/user/:userId/status',
    admin({ params: userIdParams, body: statusBody, answer: messageAnswer }),
    (request) => changeStatus(request, request.params.userId, request.body.isActive),
  );

  for (const [action, isActive] of [
    ['deactivate', false],
    ['reactivate', true],
  ] as const) {
    app.patch(
      `/api/admin/users/:id/${action}`,
      admin({ params: idParams, answer: messageAnswer }),
      (request) => changeStatus(request, request.params.id, isActive),
    );
  }
}
