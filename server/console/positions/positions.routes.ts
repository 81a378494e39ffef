import { messageAnswer } from '#contract/auth.ts';
import {
  closedPositionsAnswer,
  closedPositionsQuery,
  closePositionAnswer,
  closePositionBody,
  moveProtectionAnswer,
  moveProtectionBody,
  myPositionsQuery,
  positionsAnswer,
  positionsQuery,
  protectionRules,
  protectionRulesQuery,
  writeOffPositionBody,
} from '#contract/positions.ts';
import { findUser } from '#server/admin/users/users.store.ts';
import type { Deps } from '#server/deps.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { getUser, requireStepUp } from '#server/platform/http/access.ts';
import { required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { closeOpenPosition } from './close-open-position.ts';
import { listPositions, listRecordedClosings } from './list-positions.ts';
import { moveProtection, readProtectionRules } from './move-protection.ts';
import { writeOffPosition } from './write-off-position.ts';

export function registerPositionRoutes(app: App, deps: Deps): void {
  const reader = createAccountReader(deps);
  const tags = ['positions'];
  const admin = routeOptions({ access: 'admin', tags });
  const user = routeOptions({ access: 'user', tags });

  app.get('/api/positions', admin({ querystring: positionsQuery, answer: positionsAnswer }), ({ query }) =>
    listPositions(deps, reader, query),
  );

  app.get(
    '/api/positions/closed',
    admin({ querystring: closedPositionsQuery, answer: closedPositionsAnswer }),
    ({ query }) => listRecordedClosings(deps, query),
  );

  app.get('/api/my-positions', user({ querystring: myPositionsQuery, answer: positionsAnswer }), (request) =>
    listPositions(deps, reader, { ...request.query, userId: getUser(request).id }),
  );

  app.post(
    '/api/positions/close',
    admin({
      write: { stepUp: 'never', audit: ['position close requested', 'position closed'], token: 'trade' },
      body: closePositionBody,
      answer: closePositionAnswer,
    }),
    async (request) => {
      const { userId, token, percent } = request.body;
      const by = getUser(request).id;
      request.log.info({ userId, token, percent, by }, 'a position is to be closed');
      const owner = required(await findUser(deps.db, userId), 'userNotFound').user;
      const entry = {
        actor: actorOf(request, deps.config),
        subject: { kind: 'position', id: userId, name: `${token} (${owner.username})` },
      } as const;
      await deps.audit.record(deps.db, { ...entry, action: 'position close requested', after: { percent } });
      const answer = await closeOpenPosition(deps, reader, { userId, token, percent, requestedBy: by });
      if (answer.success) {
        const after = { message: answer.message };
        await deps.audit.record(deps.db, { ...entry, action: 'position closed', after });
      }
      request.log.info({ userId, token, by, ...answer }, 'closing a position has ended');
      return answer;
    },
  );

  app.get(
    '/api/positions/protection',
    admin({ querystring: protectionRulesQuery, answer: protectionRules }),
    ({ query }) => readProtectionRules(deps, query),
  );

  app.put(
    '/api/positions/protection',
    admin({
      write: {
        // Only towards more risk.
        stepUp: 'handler',
        // The engine records the result.
        audit: ['position protection move requested'],
        token: 'trade',
      },
      body: moveProtectionBody,
      answer: moveProtectionAnswer,
    }),
    async (request) => {
      const { userId, token, stopLoss = null, takeProfit = null } = request.body;
      const by = getUser(request).id;
      request.log.info({ userId, token, stopLoss, takeProfit, by }, 'a stop or target is to be moved');
      const answer = await moveProtection(deps, reader, {
        userId,
        token,
        stopLoss,
        takeProfit,
        requestedBy: by,
        actor: actorOf(request, deps.config),
        requireStepUp: () => requireStepUp(request, deps.clock.now()),
      });
      request.log.info({ userId, token, by, ...answer }, 'moving a stop or target has ended');
      return answer;
    },
  );

  app.post(
    '/api/positions/write-off',
    admin({
      write: { stepUp: 'always', audit: ['position written off'], token: 'admin' },
      body: writeOffPositionBody,
      answer: messageAnswer,
    }),
    async (request) => {
      const by = getUser(request);
      const { token } = await writeOffPosition(deps, reader, {
        tradeId: request.body.tradeId,
        by,
        actor: actorOf(request, deps.config),
      });
      return { message: `The position in ${token} counts as ended` };
    },
  );
}
