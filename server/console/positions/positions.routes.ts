import { messageAnswer } from '#contract/auth.ts';
import {
  closePositionAnswer,
  closePositionBody,
  myPositionsQuery,
  positionsAnswer,
  positionsQuery,
  writeOffPositionBody,
} from '#contract/positions.ts';
import type { Deps } from '#server/deps.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import { getUser } from '#server/platform/http/access.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { closeOpenPosition } from './close-open-position.ts';
import { listPositions } from './list-positions.ts';
import { writeOffPosition } from './write-off-position.ts';

export function registerPositionRoutes(app: App, deps: Deps): void {
  const reader = createAccountReader(deps);
  const tags = ['positions'];
  const admin = routeOptions({ access: 'admin', tags });
  const user = routeOptions({ access: 'user', tags });

  app.get('/api/positions', admin({ querystring: positionsQuery, answer: positionsAnswer }), ({ query }) =>
    listPositions(deps, reader, query),
  );

  app.get('/api/my-positions', user({ querystring: myPositionsQuery, answer: positionsAnswer }), (request) =>
    listPositions(deps, reader, { ...request.query, userId: getUser(request).id }),
  );

  app.post(
    '/api/positions/close',
    admin({ body: closePositionBody, answer: closePositionAnswer }),
    async (request) => {
      const { userId, token } = request.body;
      const by = getUser(request).id;
      request.log.info({ userId, token, by }, 'a position is to be closed');
      const answer = await closeOpenPosition(deps, reader, { userId, token, requestedBy: by });
      request.log.info({ userId, token, by, ...answer }, 'closing a position has ended');
      return answer;
    },
  );

  app.post(
    '/api/positions/write-off',
    admin({ body: writeOffPositionBody, answer: messageAnswer }),
    async (request) => {
      const by = getUser(request);
      const { token } = await writeOffPosition(deps, reader, { tradeId: request.body.tradeId, by });
      return { message: `The position in ${token} counts as ended` };
    },
  );
}
