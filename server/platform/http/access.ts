import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest, FastifySchema } from 'fastify';
import { ACTING_USER_HEADER, OTHER_USER } from '#contract/acting-user.ts';
import type { CurrentUser } from '#contract/auth.ts';
import type { Config } from '../config/config.ts';
import type { Session } from './access-sessions.ts';
import { AppError } from './errors.ts';
import type { App } from './http-app.ts';
import { isLoopbackAddress, isLoopbackName } from './source-address.ts';

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
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
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
    mayReadMetrics: (request: FastifyRequest) => boolean;
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
    for (const method of [route.method].flat()) {
      this.declaredRoutes.push({ method, url: route.url, access, schema: route.schema });
    }
  });

  app.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) return done();
    const { access } = request.routeOptions.config;
    if (access === 'public' || access === 'hook') return done();
    if (access === 'metrics') {
      return done(options.mayReadMetrics(request) ? undefined : new AppError('metricsClosed'));
    }
    signIn(request, access).then(() => done(), done);
  });

  async function signIn(request: FastifyRequest, access: Access | undefined): Promise<void> {
    const session = await options.findSession(request);
    if (session === null) throw new AppError('notSignedIn');
    // Checked before the role: the screen must learn that its user has changed.
    const actingUser = request.headers[ACTING_USER_HEADER];
    if (actingUser !== undefined && actingUser !== session.user.id) {
      throw new AppError('otherUser', { failureType: OTHER_USER });
    }
    if (access !== 'user' && !session.user.isAdmin) throw new AppError('adminOnly');
    request.session = session;
  }
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
    const given = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    return given !== undefined && timingSafeEqual(digest(given), digest(config.metricsToken));
  }
  if (FORWARDING_HEADERS.some((name) => request.headers[name] !== undefined)) return false;
  return isLoopbackAddress(request.socket.remoteAddress) && isLoopbackName(request.hostname);
}

const digest = (text: string) => createHash('sha256').update(text).digest();
