import { messageAnswer } from '#contract/auth.ts';
import { idParams } from '#contract/paging.ts';
import {
  type ApiToken,
  apiTokens,
  type CreateTokenBody,
  createdToken,
  createTokenBody,
  LONGEST_TOKEN_DAYS,
} from '#contract/tokens.ts';
import type { Deps } from '#server/deps.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { getUser } from '#server/platform/http/access.ts';
import {
  type ApiTokenRow,
  createApiToken,
  deleteTokenOf,
  listTokensOf,
} from '#server/platform/http/access-tokens.ts';
import { AppError, invalidFields, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { holdActiveUser } from '../users/users.store.ts';

const MOST_TOKENS = 20;
const DAY_MS = 24 * 60 * 60_000;

const user = routeOptions({ access: 'user', tags: ['API tokens'] });

/** One's own API tokens, managed in the browser only: no token reads, creates or deletes tokens. */
export function registerTokenRoutes(app: App, deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db'>): void {
  app.get('/api/tokens', user({ token: null, answer: apiTokens }), async (request) => ({
    tokens: (await listTokensOf(deps.db, getUser(request).id)).map(toApiToken),
  }));

  app.post(
    '/api/tokens',
    {
      config: {
        access: 'user',
        write: { stepUp: 'always', audit: ['API token created'], token: null },
      },
      schema: { tags: ['API tokens'], body: createTokenBody, response: { 201: createdToken } },
    },
    async (request, reply) => {
      const { id: userId } = getUser(request);
      const { name, scopes } = request.body;
      const now = deps.clock.now();
      const expiresAt = readExpiry(request.body, now);
      const { token, row } = await deps.db.transaction(async (tx) => {
        // Locked, so that the limit holds, and a concurrent deactivation or change of the password ends this token too.
        const owner = required(await holdActiveUser(tx, userId), 'notSignedIn');
        if (scopes.includes('admin') && !owner.isAdmin) {
          throw invalidFields([{ path: 'scopes', message: 'Only administrators can give the scope admin' }]);
        }
        if ((await listTokensOf(tx, userId)).length >= MOST_TOKENS) throw new AppError('tooManyTokens');
        const created = await createApiToken({ db: tx, userId, name, scopes, expiresAt, now });
        await deps.audit.record(tx, {
          actor: actorOf(request, deps.config),
          action: 'API token created',
          subject: { kind: 'token', id: created.row.id, name },
          after: described(created.row),
        });
        return created;
      });
      request.log.info({ userId, tokenId: row.id, scopes: row.scopes }, 'API token created');
      return reply.code(201).send({ ...toApiToken(row), token });
    },
  );

  app.delete(
    '/api/tokens/:id',
    user({
      write: { stepUp: 'never', audit: ['API token deleted'], token: null },
      params: idParams,
      answer: messageAnswer,
    }),
    async (request) => {
      const { id: userId } = getUser(request);
      const { id } = request.params;
      await deps.db.transaction(async (tx) => {
        const row = required(await deleteTokenOf(tx, { userId, id }), 'tokenNotFound');
        await deps.audit.record(tx, {
          actor: actorOf(request, deps.config),
          action: 'API token deleted',
          subject: { kind: 'token', id, name: row.name },
          before: described(row),
        });
      });
      request.log.info({ userId, tokenId: id }, 'API token deleted');
      return { message: 'The API token was deleted' };
    },
  );
}

function readExpiry({ expiresAt }: CreateTokenBody, now: Date): Date | null {
  if (expiresAt === null) return null;
  const end = new Date(expiresAt);
  const fault = (message: string) => invalidFields([{ path: 'expiresAt', message }]);
  if (end <= now) throw fault('The end must lie in the future');
  if (end.getTime() > now.getTime() + LONGEST_TOKEN_DAYS * DAY_MS) {
    throw fault(`The end must lie within ${LONGEST_TOKEN_DAYS} days`);
  }
  return end;
}

const toApiToken = ({ id, name, hint, scopes, createdAt, expiresAt, lastUsedAt }: ApiTokenRow): ApiToken => ({
  id,
  name,
  hint,
  scopes,
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt?.toISOString() ?? null,
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});

/** For the audit trail. */
const described = ({ hint, scopes, expiresAt }: ApiTokenRow) => ({
  hint,
  scopes,
  expiresAt: expiresAt?.toISOString() ?? null,
});
