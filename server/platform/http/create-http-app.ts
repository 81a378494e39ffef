import cookie from '@fastify/cookie';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Db } from '../db/database.ts';
import type { Logger } from '../log.ts';
import { enforceAccess } from './access.ts';
import { readSessionToken } from './access-cookie.ts';
import { findSession } from './access-sessions.ts';
import { AppError } from './errors.ts';
import type { App } from './http-app.ts';
import { type Answer, answerBrokenRequest, answerError, setSecurityHeaders } from './http-app-answers.ts';
import { mayReadMetrics } from './metrics-access.ts';
import { describeApi } from './openapi.ts';
import { areaOf, areaOfUnreadable, handleNotFound } from './request-areas.ts';
import { guardRequests, isApiWrite, MAX_API_BODY_BYTES } from './request-guards.ts';
import { validatorCompiler } from './request-guards-validator.ts';
import { serveWeb, WEB_FOLDER } from './static-files.ts';
import { createProxyTrust } from './trusted-proxies.ts';
import type { UntrustedProxies } from './untrusted-proxies.ts';

export interface HttpDeps {
  config: Pick<Config, 'trustProxy' | 'metricsToken' | 'publicUrl'>;
  log: Logger;
  clock: Clock;
  db: Db;
  untrustedProxies: Pick<UntrustedProxies, 'note'>;
}

/** A slow or stalled sender loses its connection after this; answers may take as long as they like. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Everything that all routes share; the features add theirs to it. */
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
    // Node takes the shorter of both times for the head alone, and looks who is late twice a minute.
    http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: requestTimeoutMs / 6 },
    // Fastify's own answer has neither our shape nor our headers; see refuseWhileClosing.
    return503OnClosing: false,
    clientErrorHandler: (error, socket) =>
      answerBrokenRequest(error, socket, { secure: deps.config.publicUrl?.startsWith('https:') ?? false }),
    // Addresses that cannot be routed at all; no hook has run for them.
    frameworkErrors: (error, request, reply) => {
      // The type of this reply is open over every route's answers; an error body is in all of them.
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
  // Hooks that wait for nothing are told so by a callback: a promise each would be paid for by every delivery.
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
    findSession: async (request) => {
      const token = readSessionToken(request);
      return token === null ? null : findSession({ db: deps.db, token, now: deps.clock.now() });
    },
    mayReadMetrics: (request) => mayReadMetrics(request, deps.config),
  });
  await describeApi(app);

  const sendPage = await serveWeb(app, { folder: options.webFolder ?? WEB_FOLDER });
  handleNotFound(app, (request, reply) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    // A built file that is gone must fail: the page in its place would be run as a script.
    if (!isRead || request.area !== 'pages') throw new AppError('notFound');
    return sendPage(request, reply);
  });
  return app;
}

/** A request on a connection that is still open gets the same 503 as any other: the charting platform sends again. */
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

// Polls and deliveries are many; what changes something is said once.
function levelOf(request: FastifyRequest): 'info' | 'debug' {
  return isApiWrite(request) ? 'info' : 'debug';
}

function logAnswer(request: FastifyRequest, reply: FastifyReply, level: 'info' | 'debug'): void {
  request.log[level](
    { req: request, res: reply, durationMs: Math.round(reply.elapsedTime) },
    'request answered',
  );
}
