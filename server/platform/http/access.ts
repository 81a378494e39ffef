import type { FastifyRequest, FastifySchema } from 'fastify';
import { ACTING_USER_HEADER, OTHER_USER } from '#contract/acting-user.ts';
import type { CurrentUser } from '#contract/auth.ts';
import type { Session } from './access-sessions.ts';
import { AppError } from './errors.ts';
import type { App } from './http-app.ts';

/**
 * Who may call a route. `hook`: anyone, the route itself checks the webhook key. `metrics`: who reads the figures,
 * with a token of its own instead of a session.
 * Every route declares it (`config: { access }`); one that does not stops the start.
 */
export const ACCESS_LEVELS = ['public', 'user', 'admin', 'hook', 'metrics'] as const;
export type Access = (typeof ACCESS_LEVELS)[number];

export interface DeclaredRoute {
  method: string;
  url: string;
  access: Access;
  /** What it takes and answers. */
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
    /** What the routes of a plugin that is not ours get: its routes cannot declare their access themselves. */
    scopeAccess?: Access;
  }
}

/** Deny by default: no route without a declared access, no handler before it was checked. */
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
    // Said before what the role may do: the screen must learn that it is not its user's any more.
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
