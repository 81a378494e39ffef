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
import { closeOpenPosition } from './close-open-position.ts';
import { listPositions } from './list-positions.ts';
import { writeOffPosition } from './write-off-position.ts';

const tags = ['positions'];

export function registerPositionRoutes(app: App, deps: Deps): void {
  const reader = createAccountReader(deps);

  app.get(
    '/api/positions',
    {
      config: { access: 'admin' },
      schema: { tags, querystring: positionsQuery, response: { 200: positionsAnswer } },
    },
    (request) => listPositions(deps, reader, request.query),
  );

  app.get(
    '/api/my-positions',
    {
      config: { access: 'user' },
      schema: { tags, querystring: myPositionsQuery, response: { 200: positionsAnswer } },
    },
    (request) => listPositions(deps, reader, { ...request.query, userId: getUser(request).id }),
  );

  app.post(
    '/api/positions/close',
    {
      config: { access: 'admin' },
      schema: { tags, body: closePositionBody, response: { 200: closePositionAnswer } },
    },
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
    {
      config: { access: 'admin' },
      schema: { tags, body: writeOffPositionBody, response: { 200: messageAnswer } },
    },
    async (request) => {
      const by = getUser(request);
      const { token } = await writeOffPosition(deps, reader, { tradeId: request.body.tradeId, by });
      return { message: `The position in ${token} counts as ended` };
    },
  );
}
