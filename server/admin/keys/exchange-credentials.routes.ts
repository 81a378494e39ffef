import type { FastifyRequest } from 'fastify';
import {
  type ConnectionTest,
  connectionTest,
  exchangeCredentials,
  exchangeCredentialsBody,
  exchangeCredentialsQuery,
  savedExchangeCredentials,
} from '#contract/exchange-credentials.ts';
import { userIdParams } from '#contract/paging.ts';
import { DEFAULT_USER_SETTINGS, EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import type { Deps } from '#server/deps.ts';
import { aboutUser } from '#server/platform/audit/audit-subjects.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { createSharedLimit } from '#server/platform/http/shared-limit.ts';
import { findUser } from '../users/users.store.ts';
import { removeCredentials, saveCredentials, showCredentials } from './change-credentials.ts';
import type { CredentialsOwner } from './exchange-credentials.store.ts';
import { testStoredConnection } from './test-connection.ts';

/** Per user; entering a key and testing a key both call the exchange. */
export const CALLS_PER_MINUTE = 10;
/** How many of these calls may enter a key. */
export const ENTRIES_PER_MINUTE = 5;

/** Users manage their own keys; administrators manage those of the user in the path. */
interface Audience {
  path: string;
  access: 'user' | 'admin';
  params: { params?: typeof userIdParams };
  userIdOf(request: FastifyRequest): string;
}

const AUDIENCES: Audience[] = [
  {
    path: '/api/user-settings/exchange-credentials',
    access: 'user',
    params: {},
    userIdOf: (request) => getUser(request).id,
  },
  {
    path: '/api/admin/user-settings/:userId/exchange-credentials',
    access: 'admin',
    params: { params: userIdParams },
    userIdOf: (request) => userIdParams.parse(request.params).userId,
  },
];

export function registerExchangeCredentialRoutes(app: App, deps: Deps): void {
  /** Counts per owner of the keys; refuses with 429. */
  function limitedBy(keyPrefix: string, points: number) {
    const limit = createSharedLimit(deps.pool, { keyPrefix, points, duration: 60 });
    return async ({ userId }: CredentialsOwner): Promise<void> => {
      const waitMs = await limit(userId);
      if (waitMs === null) return;
      throw new AppError('tooManyRequests', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) });
    };
  }
  const limits = {
    entry: limitedBy('credentials-entry', ENTRIES_PER_MINUTE),
    call: limitedBy('exchange-call', CALLS_PER_MINUTE),
  };
  for (const audience of AUDIENCES) registerFor(audience, { app, deps, limits });
}

type Limit = (owner: CredentialsOwner) => Promise<void>;

function registerFor(
  { path, access, params, userIdOf }: Audience,
  { app, deps, limits }: { app: App; deps: Deps; limits: { entry: Limit; call: Limit } },
): void {
  const route = routeOptions({ access });
  const querystring = exchangeCredentialsQuery;

  app.get(path, route({ ...params, querystring, answer: exchangeCredentials }), async (request) =>
    showCredentials(deps, await ownerOf(deps, userIdOf(request), request.query), getUser(request)),
  );

  app.put(
    path,
    route({
      ...params,
      write: { stepUp: 'always', audit: ['exchange keys stored'], token: null },
      body: exchangeCredentialsBody,
      answer: savedExchangeCredentials,
    }),
    async (request) => {
      const { body } = request;
      const owner = await ownerOf(deps, userIdOf(request), body);
      await limits.entry(owner);
      await limits.call(owner);
      const saved = await saveCredentials(deps, {
        userId: owner.userId,
        body,
        viewer: getUser(request),
        onTest: (test) => logTest(request, owner, test),
        by: { actor: actorOf(request, deps.config), subject: aboutOwner(owner) },
      });
      log(request, owner, 'exchange credentials stored');
      return saved;
    },
  );

  const removal = { write: { stepUp: 'always', audit: ['exchange keys deleted'], token: null } } as const;
  app.delete(
    path,
    route({ ...params, ...removal, querystring, answer: exchangeCredentials }),
    async (request) => {
      const owner = await ownerOf(deps, userIdOf(request), request.query);
      const left = await removeCredentials(deps, {
        owner,
        viewer: getUser(request),
        by: { actor: actorOf(request, deps.config), subject: aboutOwner(owner) },
      });
      log(request, owner, 'exchange credentials removed');
      return left;
    },
  );

  const test = { write: { stepUp: 'never', audit: ['exchange keys tested'], token: null } } as const;
  app.post(
    `${path}/test`,
    route({ ...params, ...test, querystring, answer: connectionTest }),
    async (request) => {
      const owner = await ownerOf(deps, userIdOf(request), request.query);
      await limits.call(owner);
      const test = await testStoredConnection(deps, owner, getUser(request));
      await deps.audit.record(deps.db, {
        actor: actorOf(request, deps.config),
        action: 'exchange keys tested',
        subject: aboutOwner(owner),
        after: { exchangePlatform: owner.platform, result: resultOf(test) },
      });
      logTest(request, owner, test);
      return test;
    },
  );
}

function log(request: FastifyRequest, owner: CredentialsOwner, message: string, more: object = {}): void {
  const { userId, platform: exchangePlatform } = owner;
  request.log.info({ userId, by: getUser(request).id, exchangePlatform, ...more }, message);
}

function logTest(request: FastifyRequest, owner: CredentialsOwner, test: ConnectionTest): void {
  log(request, owner, 'exchange credentials tested', { result: resultOf(test) });
}

const resultOf = (test: ConnectionTest): string => (test.success ? 'success' : test.error);

const aboutOwner = ({ userId: id, username }: NamedOwner) => aboutUser({ id, username });

type NamedOwner = CredentialsOwner & { username: string };

/** The user, who must exist, and the requested exchange; defaults to the exchange in the user's settings. */
async function ownerOf(
  deps: Pick<Deps, 'db'>,
  userId: string,
  asked: { exchangePlatform?: ExchangePlatform | undefined },
): Promise<NamedOwner> {
  const { user, settings } = required(await findUser(deps.db, userId), 'userNotFound');
  const wanted = asked.exchangePlatform ?? settings?.exchangePlatform;
  const platform = EXCHANGE_PLATFORMS.find((one) => one === wanted) ?? DEFAULT_USER_SETTINGS.exchangePlatform;
  return { userId, platform, username: user.username };
}
