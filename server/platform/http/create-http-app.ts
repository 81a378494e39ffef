import cookie from '@fastify/cookie';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyContextConfig,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchema,
  LogController,
} from 'fastify';
import {
  createJsonSchemaTransform,
  serializerCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Db } from '../db/database.ts';
import type { Logger } from '../log.ts';
import { enforceAccess, mayReadMetrics, tokenScopeOf } from './access.ts';
import { findSession, readSessionToken, type Session } from './access-sessions.ts';
import { findTokenSession } from './access-tokens.ts';
import { readApiToken } from './bearer-token.ts';
import { AppError } from './errors.ts';
import type { App } from './http-app.ts';
import {
  type Answer,
  answerBrokenRequest,
  answerError,
  DOCS_CONTENT_SECURITY_POLICY,
  setSecurityHeaders,
} from './http-app-answers.ts';
import { areaOf, areaOfUnreadable, handleNotFound } from './request-areas.ts';
import { guardRequests, isApiWrite, MAX_API_BODY_BYTES } from './request-guards.ts';
import { validatorCompiler } from './request-guards-validator.ts';
import { mustEnrolFactor } from './second-factors.ts';
import { addressGroup, createProxyTrust, sourceAddress } from './source-address.ts';
import { serveWeb, WEB_FOLDER } from './static-files.ts';
import type { UntrustedProxies } from './untrusted-proxies.ts';
import { createWrongKeys } from './wrong-keys.ts';

export interface HttpDeps {
  config: Pick<Config, 'trustProxy' | 'metricsToken' | 'publicUrl' | 'exchangeMode'>;
  log: Logger;
  clock: Clock;
  db: Db;
  untrustedProxies: Pick<UntrustedProxies, 'note'>;
}

/** A slow or stalled sender loses its connection after this; answers may take any time. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Everything that all routes share. */
export async function createHttpApp(
  deps: HttpDeps,
  options: { webFolder?: string; requestTimeoutMs?: number } = {},
): Promise<App> {
  const { requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const logger: FastifyBaseLogger = deps.log;
  const isTrustedProxy = createProxyTrust(deps.config.trustProxy);
  const app: App = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: deps.config.trustProxy.length > 0 ? isTrustedProxy : false,
    bodyLimit: MAX_API_BODY_BYTES,
    requestTimeout: requestTimeoutMs,
    // For the head, Node takes the shorter of both; by default it checks them only twice a minute.
    http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: requestTimeoutMs / 6 },
    // Fastify's own answer has neither the shape nor the headers of this API; see refuseWhileClosing.
    return503OnClosing: false,
    clientErrorHandler: (error, socket) =>
      answerBrokenRequest(error, socket, { secure: deps.config.publicUrl?.startsWith('https:') ?? false }),
    // Addresses that cannot be routed at all; no hook has run for them.
    frameworkErrors: (error, request, reply) => {
      // This reply's type is generic over all answers; each includes an error body.
      const answer = reply as unknown as Answer;
      request.area = areaOfUnreadable(request.url);
      setSecurityHeaders(request, answer);
      answerError(error, request, answer);
    },
  }).withTypeProvider<ZodTypeProvider>();

  app.decorate('publicUrl', deps.config.publicUrl);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply));
  // Callbacks, because promises in hooks would slow down every delivery.
  app.decorateRequest('area', 'pages');
  app.addHook('onRequest', (request, reply, done) => {
    request.area = areaOf(request);
    setSecurityHeaders(request, reply);
    deps.untrustedProxies.note(request.raw);
    done();
  });
  refuseWhileClosing(app);
  app.addHook('onResponse', (request, reply, done) => {
    const level = levelOf(request);
    if (deps.log.isLevelEnabled(level)) logAnswer(request, reply, level);
    done();
  });
  await app.register(cookie);
  guardRequests(app);
  enforceAccess(app, {
    findSession: createSessionFinder(deps),
    mustEnrolFactor: (user) => mustEnrolFactor(deps, user),
    mayReadMetrics: (request) => mayReadMetrics(request, deps.config),
    exchangeMode: deps.config.exchangeMode,
    now: () => deps.clock.now(),
  });
  await describeApi(app);

  const sendPage = await serveWeb(app, { folder: options.webFolder ?? WEB_FOLDER });
  handleNotFound(app, (request, reply) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    // A missing built file must fail: the page in its place would run as a script.
    if (!isRead || request.area !== 'pages') throw new AppError('notFound');
    return sendPage(request, reply);
  });
  return app;
}

/** Finds the session of a request by its API token or its cookie. */
function createSessionFinder({ db, clock, config }: HttpDeps) {
  const wrongTokens = createWrongKeys({ nowMs: clock.monotonicMs });
  return async (request: FastifyRequest): Promise<Session | null> => {
    const now = clock.now();
    const apiToken = readApiToken(request);
    if (apiToken !== null) {
      const session = await findTokenSession({ db, token: apiToken, now });
      if (session !== null) return session;
      const retryAfterSeconds = wrongTokens(addressGroup(sourceAddress(request, config)));
      if (retryAfterSeconds !== null) throw new AppError('tooManyAttempts', { retryAfterSeconds });
      throw new AppError('invalidToken');
    }
    const token = readSessionToken(request);
    return token === null ? null : findSession({ db, token, now });
  };
}

/** Also answers 503 on open connections: the charting platform then sends again. */
function refuseWhileClosing(app: App): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onRequest', (_request, reply, done) => {
    if (!closing) return done();
    reply.header('connection', 'close');
    done(new AppError('unavailable'));
  });
}

// Writes are few; polls and deliveries are many.
function levelOf(request: FastifyRequest): 'info' | 'debug' {
  return isApiWrite(request) ? 'info' : 'debug';
}

function logAnswer(request: FastifyRequest, reply: FastifyReply, level: 'info' | 'debug'): void {
  request.log[level](
    { req: request, res: reply, durationMs: Math.round(reply.elapsedTime) },
    'request answered',
  );
}

const PREFIX = '/api/docs';

const describeRoute = createJsonSchemaTransform({ zodToJsonConfig: { unrepresentable: 'any' } });

/** How a route is signed in to; `security` names the scope of a token as OpenAPI does a role. */
function describeAccess(config: FastifyContextConfig): Pick<FastifySchema, 'description' | 'security'> {
  if (config.access !== 'user' && config.access !== 'admin') return {};
  const who = config.access === 'admin' ? 'For administrators. ' : '';
  const scope = tokenScopeOf(config);
  if (scope === null) return { description: `${who}Closed to API tokens.`, security: [{ session: [] }] };
  return {
    description: `${who}An API token needs the scope \`${scope}\`.`,
    security: [{ session: [] }, { token: [scope] }],
  };
}

/** The API description at /api/docs, generated from the contracts, for administrators. */
async function describeApi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Signal Board',
        description: 'Trading signals in, sized and protected futures orders out.',
        version: '0.1.0',
      },
      components: {
        securitySchemes: {
          session: { type: 'apiKey', in: 'cookie', name: 'sid', description: 'The cookie of a browser' },
          token: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API token; each route names the scope that it needs',
          },
        },
      },
    },
    transform: (document) => {
      const { schema, url } = describeRoute(document);
      return { schema: { ...schema, ...describeAccess(document.route.config ?? {}) }, url };
    },
  });
  await app.register(async (scope) => {
    scope.decorate('scopeAccess', 'admin');
    scope.addHook('onRequest', async (_request, reply) => {
      reply.header('content-security-policy', DOCS_CONTENT_SECURITY_POLICY);
    });
    await scope.register(swaggerUi, { routePrefix: PREFIX, uiConfig: { validatorUrl: null } });
  });
}
