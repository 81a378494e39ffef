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
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
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

const config = { access: 'admin' } as const;
const DEFAULT_PAGE_SIZE = 10;

export function registerUserRoutes(app: App, deps: Pick<Deps, 'config' | 'clock' | 'db'>): void {
  app.get(
    '/api/admin/users',
    { config, schema: { querystring: usersQuery, response: { 200: usersAnswer } } },
    async ({ query: { page, limit, includeInactive, search, sort, direction } }) => {
      const order = sort === undefined ? undefined : { sort, direction };
      // Without page and limit: every user, including inactive users.
      if (page === undefined && limit === undefined) {
        const everyone = await listUsers(deps.db, { includeInactive: true, search, order });
        return { users: everyone.map((row) => toUser(row.user, row.settings)), total: everyone.length };
      }
      const size = limit ?? DEFAULT_PAGE_SIZE;
      const offset = ((page ?? 1) - 1) * size;
      const [rows, total] = await Promise.all([
        listUsers(deps.db, { includeInactive, search, order, page: { limit: size, offset } }),
        countUsers(deps.db, { includeInactive, search }),
      ]);
      return { users: rows.map((row) => toUser(row.user, row.settings)), total };
    },
  );

  app.get('/api/users', { config, schema: { response: { 200: userNames } } }, () => listUserNames(deps.db));

  app.get(
    '/api/admin/user/:userId',
    { config, schema: { params: userIdParams, response: { 200: userAnswer } } },
    async (request) => {
      const found = await findUser(deps.db, request.params.userId);
      if (found === null) throw new AppError('userNotFound');
      return { user: toUser(found.user, found.settings) };
    },
  );

  app.post(
    '/api/admin/create-client',
    { config, schema: { body: createUserBody, response: { 201: userAnswer } } },
    async (request, reply) => {
      const user = await createUser(deps, request.body);
      request.log.info({ userId: user.id, by: getUser(request).id }, 'user created');
      return reply.code(201).send({ user });
    },
  );

  app.put(
    '/api/admin/user/:userId/active-trading',
    { config, schema: { params: userIdParams, body: activeTradingBody, response: { 200: messageAnswer } } },
    async (request) => {
      const { userId } = request.params;
      const { activeTrading } = request.body;
      if ((await findUser(deps.db, userId)) === null) throw new AppError('userNotFound');
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
    { config, schema: { params: userIdParams, body: statusBody, response: { 200: messageAnswer } } },
    (request) => changeStatus(request, request.params.userId, request.body.isActive),
  );

  for (const [action, isActive] of [
    ['deactivate', false],
    ['reactivate', true],
  ] as const) {
    app.patch(
      `/api/admin/users/:id/${action}`,
      { config, schema: { params: idParams, response: { 200: messageAnswer } } },
      (request) => changeStatus(request, request.params.id, isActive),
    );
  }
}
