import {
  loginAnswer,
  loginBody,
  messageAnswer,
  passwordBody,
  sessionAnswer,
  successAnswer,
} from '#contract/auth.ts';
import { type NavigationPage, navigationPages, PAGES } from '#contract/pages.ts';
import type { Deps } from '#server/deps.ts';
import { getSession, getUser } from '#server/platform/http/access.ts';
import {
  clearSessionCookie,
  endSession,
  readSessionToken,
  revealKey,
  setSessionCookie,
} from '#server/platform/http/access-sessions.ts';
import { toAppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { sourceAddress } from '#server/platform/http/source-address.ts';
import { prepareUnknownUserHash } from '#server/platform/password.ts';
import { checkOwnPassword } from './check-password.ts';
import { signIn } from './sign-in.ts';

const asUser = { access: 'user' } as const;
const asAnyone = { access: 'public' } as const;

export function registerAuthRoutes(
  app: App,
  deps: Pick<Deps, 'config' | 'clock' | 'db' | 'limitPasswordAttempts'>,
): void {
  // In the background, so that the start does not wait. A failure shows at the next sign-in.
  app.addHook('onListen', (done) => {
    prepareUnknownUserHash().catch(() => {});
    done();
  });

  app.post(
    '/api/auth/login',
    { config: asAnyone, schema: { body: loginBody, response: { 200: loginAnswer } } },
    async (request, reply) => {
      const address = sourceAddress(request, deps.config);
      // Do not log the typed name: people type passwords into the wrong field.
      const { user, token } = await signIn(deps, { ...request.body, address }).catch((error: unknown) => {
        request.log.warn({ address, reason: toAppError(error).code }, 'sign-in failed');
        throw error;
      });
      request.log.info({ userId: user.id, address }, 'signed in');
      const previous = readSessionToken(request);
      if (previous !== null) await endSession({ db: deps.db, token: previous });
      setSessionCookie(request, reply, token);
      return { user };
    },
  );

  // Public: signing out of a session that has ended is not an error.
  app.post(
    '/api/auth/logout',
    { config: asAnyone, schema: { response: { 200: messageAnswer } } },
    async (request, reply) => {
      const token = readSessionToken(request);
      if (token !== null) await endSession({ db: deps.db, token });
      request.log.info({ address: sourceAddress(request, deps.config) }, 'signed out');
      clearSessionCookie(request, reply);
      return { message: 'Signed out' };
    },
  );

  app.get(
    '/api/auth/user',
    { config: asUser, schema: { response: { 200: sessionAnswer } } },
    async (request) => ({ user: getUser(request), displayTimezone: deps.config.displayTimezone }),
  );

  app.post(
    '/api/auth/verify-password',
    { config: asUser, schema: { body: passwordBody, response: { 200: successAnswer } } },
    async (request) => {
      await checkOwnPassword(deps, request, request.body.password);
      await revealKey({ db: deps.db, sessionId: getSession(request).id, now: deps.clock.now() });
      return { success: true, message: 'Password verified' };
    },
  );

  app.get(
    '/api/navigation/pages',
    { config: asUser, schema: { response: { 200: navigationPages } } },
    async (request) => ({ pages: navigationFor(getUser(request)) }),
  );
}

/** The response schema drops the fields that screens do not read. */
const navigationFor = (user: { isAdmin: boolean }): NavigationPage[] =>
  PAGES.filter(({ audience }) => audience !== (user.isAdmin ? 'ordinary users' : 'administrators'));
