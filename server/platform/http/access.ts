import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyContextConfig, FastifyRequest, FastifySchema } from 'fastify';
import { ACTING_USER_HEADER, OTHER_USER } from '#contract/acting-user.ts';
import type { CurrentUser } from '#contract/auth.ts';
import { FACTOR_REQUIRED, STEP_UP_REQUIRED } from '#contract/factors.ts';
import type { TokenScope } from '#contract/tokens.ts';
import type { Config } from '../config/config.ts';
import type { Session } from './access-sessions.ts';
import { readBearer } from './bearer-token.ts';
import { AppError } from './errors.ts';
import type { App } from './http-app.ts';
import { isLoopbackAddress, isLoopbackName } from './source-address.ts';
import type { WriteRule } from './write-rules.ts';

/**
 * Who may call a route. A route that does not declare it (`config: { access }`) stops the start. `hook`: anyone; the
 * route checks the webhook key. `metrics`: a token instead of a session.
 */
const ACCESS_LEVELS = ['public', 'user', 'admin', 'hook', 'metrics'] as const;
type Access = (typeof ACCESS_LEVELS)[number];

export interface DeclaredRoute {
  method: string;
  url: string;
  access: Access;
  /** Its input and answers. */
  schema: FastifySchema | undefined;
  /** Null for routes that only read, and for webhooks. */
  write: WriteRule | null;
  /** The scope that an API token needs; null: closed to tokens, or open to anyone. */
  tokenScope: TokenScope | null;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    write?: WriteRule;
    /** Also for an administrator who has to set up a second factor before anything else. */
    beforeFactor?: boolean;
    /** Null: closed to API tokens. For routes that only read; those that change something say it in `write`. */
    token?: null;
  }
  interface FastifyRequest {
    session: Session | null;
  }
  interface FastifyInstance {
    declaredRoutes: DeclaredRoute[];
    /** The access of a plugin's routes, which cannot declare it. */
    scopeAccess?: Access;
  }
}

/** Denies by default: no route without declared access, no handler before the access check. */
export function enforceAccess(
  app: App,
  options: {
    findSession: (request: FastifyRequest) => Promise<Session | null>;
    /** An administrator where real money is traded, without a second factor. */
    mustEnrolFactor: (user: CurrentUser) => Promise<boolean>;
    mayReadMetrics: (request: FastifyRequest) => boolean;
    exchangeMode: Config['exchangeMode'];
    now: () => Date;
  },
): void {
  app.decorate('declaredRoutes', []);
  app.decorateRequest('session', null);

  app.addHook('onRoute', function declareAccess(route) {
    const access = route.config?.access ?? this.scopeAccess;
    if (access === undefined || !ACCESS_LEVELS.includes(access)) {
      throw new Error(`${String(route.method)} ${route.url} does not declare who may call it`);
    }
    route.config = { ...route.config, access };
    const write = route.config.write ?? null;
    for (const method of [route.method].flat()) {
      const writes = method !== 'GET' && method !== 'HEAD' && access !== 'hook';
      if (writes && write === null) throw new Error(`${method} ${route.url} has no rule for writes`);
      const tokenScope = tokenScopeOf(route.config);
      this.declaredRoutes.push({ method, url: route.url, access, schema: route.schema, write, tokenScope });
    }
  });

  app.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) return done();
    const { access } = request.routeOptions.config;
    if (access === 'public' || access === 'hook') return done();
    if (access === 'metrics') {
      return done(options.mayReadMetrics(request) ? undefined : new AppError('metricsClosed'));
    }
    signIn(request).then(() => done(), done);
  });

  // After validation, so that nobody confirms what is refused anyway.
  app.addHook('preHandler', (request, _reply, done) => {
    const stepUp = request.routeOptions.config.write?.stepUp;
    if (stepUp === 'always' || (stepUp === 'outsidePaper' && options.exchangeMode !== 'paper')) {
      requireStepUp(request, options.now());
    }
    done();
  });

  async function signIn(request: FastifyRequest): Promise<void> {
    const { access, beforeFactor = false } = request.routeOptions.config;
    const session = await options.findSession(request);
    if (session === null) throw new AppError('notSignedIn');
    // Checked before the role: the screen must learn that its user has changed.
    const actingUser = request.headers[ACTING_USER_HEADER];
    if (actingUser !== undefined && actingUser !== session.user.id) {
      throw new AppError('otherUser', { failureType: OTHER_USER });
    }
    if (access !== 'user' && !session.user.isAdmin) throw new AppError('adminOnly');
    if (!beforeFactor && (await options.mustEnrolFactor(session.user))) {
      throw new AppError('factorRequired', { failureType: FACTOR_REQUIRED });
    }
    if (session.token !== null) requireScope(session.token, tokenScopeOf(request.routeOptions.config));
    request.session = session;
  }
}

/** The scope that an API token needs for a route; null: none is enough. */
export function tokenScopeOf({ access, write, token }: FastifyContextConfig): TokenScope | null {
  if (access !== 'user' && access !== 'admin') return null;
  if (write !== undefined) return write.token;
  return token === null ? null : 'read';
}

function requireScope({ scopes }: NonNullable<Session['token']>, needed: TokenScope | null): void {
  if (needed === null) throw new AppError('notForTokens');
  if (scopes.includes(needed)) return;
  throw new AppError('missingScope', { message: `The API token has no scope ${needed}, which this needs` });
}

/** The session of a route whose access is `user` or `admin`. */
export function getSession(request: FastifyRequest): Session {
  if (request.session === null) throw new AppError('notSignedIn');
  return request.session;
}

/** The signed-in user of a route whose access is `user` or `admin`. */
export function getUser(request: FastifyRequest): CurrentUser {
  return getSession(request).user;
}

/**
 * Throws unless the session was stepped up within the last five minutes. An API token needs none: its scopes were
 * granted by a session that was.
 */
export function requireStepUp(request: FastifyRequest, now: Date): void {
  const { stepUpUntil, token } = getSession(request);
  if (token !== null || (stepUpUntil !== null && stepUpUntil > now)) return;
  throw new AppError('stepUpRequired', { failureType: STEP_UP_REQUIRED });
}

const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Needs METRICS_TOKEN; without one only this machine may read, directly and under its own name: requests through a
 * proxy, or from a page whose name was made to point here, also come from this machine.
 */
export function mayReadMetrics(
  request: Pick<FastifyRequest, 'headers' | 'socket' | 'hostname'>,
  config: Pick<Config, 'metricsToken'>,
): boolean {
  if (config.metricsToken !== null) {
    const given = readBearer(request);
    return given !== null && timingSafeEqual(digest(given), digest(config.metricsToken));
  }
  if (FORWARDING_HEADERS.some((name) => request.headers[name] !== undefined)) return false;
  return isLoopbackAddress(request.socket.remoteAddress) && isLoopbackName(request.hostname);
}

const digest = (text: string) => createHash('sha256').update(text).digest();
