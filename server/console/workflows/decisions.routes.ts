import { decisionsAnswer, decisionsQuery } from '#contract/decisions.ts';
import { idParams } from '#contract/paging.ts';
import { findUser } from '#server/admin/users/users.store.ts';
import type { Deps } from '#server/deps.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { listUserDecisions } from './user-decisions.store.ts';

/** The history of what was decided on a user: the user's own, or anybody's for administrators. */
export function registerDecisionRoutes(app: App, { db }: Pick<Deps, 'db'>): void {
  const user = routeOptions({ access: 'user', tags: ['automation'] });
  app.get(
    '/api/users/:id/decisions',
    user({ params: idParams, querystring: decisionsQuery, answer: decisionsAnswer }),
    async (request) => {
      const caller = getUser(request);
      const { id } = request.params;
      // The same answer as for an unknown user: nobody learns who exists.
      if (!caller.isAdmin && caller.id !== id) throw new AppError('userNotFound');
      const { user: owner } = required(await findUser(db, id), 'userNotFound');
      return listUserDecisions(db, { user: owner, query: request.query });
    },
  );
}
