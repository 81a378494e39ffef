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
import { getUser } from '#server/platform/http/access.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { findUser } from '../users/users.store.ts';
import { removeCredentials, saveCredentials, showCredentials } from './change-credentials.ts';
import type { CredentialsOwner } from './exchange-credentials.store.ts';
import { type CredentialLimits, createCredentialLimits } from './limit-calls.ts';
import { testStoredConnection } from './test-connection.ts';

/** For whom the routes are: everybody for himself, administrators for the user in the path. */
interface Audience {
  path: string;
  config: { access: 'user' | 'admin' };
  params: { params?: typeof userIdParams };
  userIdOf(request: FastifyRequest): string;
}

const AUDIENCES: Audience[] = [
  {
    path: '/api/user-settings/exchange-credentials',
    config: { access: 'user' },
    params: {},
    userIdOf: (request) => getUser(request).id,
  },
  {
    path: '/api/admin/user-settings/:userId/exchange-credentials',
    config: { access: 'admin' },
    params: { params: userIdParams },
    userIdOf: (request) => userIdParams.parse(request.params).userId,
  },
];

export function registerExchangeCredentialRoutes(app: App, deps: Deps): void {
  const limits = createCredentialLimits(deps.pool);
  for (const audience of AUDIENCES) registerFor(audience, { app, deps, limits });
}

function registerFor(
  { path, config, params, userIdOf }: Audience,
  context: { app: App; deps: Deps; limits: CredentialLimits },
): void {
  const { app, deps, limits } = context;
  const querystring = exchangeCredentialsQuery;

  app.get(
    path,
    { config, schema: { ...params, querystring, response: { 200: exchangeCredentials } } },
    async (request) =>
      showCredentials(deps, await ownerOf(deps, userIdOf(request), request.query), getUser(request)),
  );

  app.put(
    path,
    {
      config,
      schema: { ...params, body: exchangeCredentialsBody, response: { 200: savedExchangeCredentials } },
    },
    async (request) => {
      const { body } = request;
      const owner = await ownerOf(deps, userIdOf(request), body);
      await limits.countEntry(owner.userId);
      const onTest = (test: ConnectionTest) => logTest(request, owner, test);
      const saved = await saveCredentials(deps, {
        userId: owner.userId,
        body,
        viewer: getUser(request),
        onTest,
      });
      log(request, owner, 'exchange credentials stored');
      return saved;
    },
  );

  app.delete(
    path,
    { config, schema: { ...params, querystring, response: { 200: exchangeCredentials } } },
    async (request) => {
      const owner = await ownerOf(deps, userIdOf(request), request.query);
      const left = await removeCredentials(deps, owner, getUser(request));
      log(request, owner, 'exchange credentials removed');
      return left;
    },
  );

  app.post(
    `${path}/test`,
    { config, schema: { ...params, querystring, response: { 200: connectionTest } } },
    async (request) => {
      const owner = await ownerOf(deps, userIdOf(request), request.query);
      await limits.countTest(owner.userId);
      const test = await testStoredConnection(deps, owner, getUser(request));
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
  log(request, owner, 'exchange credentials tested', { result: test.success ? 'success' : test.error });
}

/** The user, who must exist, and the asked exchange; where none is asked, the one of the user's settings. */
async function ownerOf(
  deps: Pick<Deps, 'db'>,
  userId: string,
  asked: { exchangePlatform?: ExchangePlatform | undefined },
): Promise<CredentialsOwner> {
  const found = await findUser(deps.db, userId);
  if (found === null) throw new AppError('userNotFound');
  const wanted = asked.exchangePlatform ?? found.settings?.exchangePlatform;
  const platform = EXCHANGE_PLATFORMS.find((one) => one === wanted) ?? DEFAULT_USER_SETTINGS.exchangePlatform;
  return { userId, platform };
}
