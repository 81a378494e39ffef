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
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { getSession, getUser } from '#server/platform/http/access.ts';
import {
  clearSessionCookie,
  endSession,
  findSession,
  readSessionToken,
  revealKey,
} from '#server/platform/http/access-sessions.ts';
import { toAppError } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { mustEnrolFactor } from '#server/platform/http/second-factors.ts';
import { sourceAddress } from '#server/platform/http/source-address.ts';
import { prepareUnknownUserHash } from '#server/platform/password.ts';
import { answerSignedIn } from './answer-signed-in.ts';
import { checkOwnPassword } from './check-password.ts';
import { clearHalfCookie, endHalfSignIn, readHalfToken, setHalfCookie } from './half-sign-in.ts';
import { callerOf } from './open-session.ts';
import { signIn } from './sign-in.ts';
import { recordConfirmation } from './step-up.ts';

const anyone = routeOptions({ access: 'public' });
const user = routeOptions({ access: 'user' });
const evenBeforeFactor = routeOptions({ access: 'user', beforeFactor: true });

export function registerAuthRoutes(
  app: App,
  deps: Pick<Deps, 'audit' | 'config' | 'clock' | 'db' | 'limitPasswordAttempts'>,
): void {
  // In the background, so that the start does not wait. A failure shows at the next sign-in.
  app.addHook('onListen', (done) => {
    prepareUnknownUserHash(deps.config.passwordCost).catch(() => {});
    done();
  });

  app.post(
    '/api/auth/login',
    anyone({
      write: { stepUp: 'never', audit: ['signed in', 'sign-in refused'], token: null },
      body: loginBody,
      answer: loginAnswer,
    }),
    async (request, reply) => {
      const caller = callerOf(request, deps.config);
      const { address } = caller;
      // Do not log the typed name: people type passwords into the wrong field.
      const signedIn = await signIn(deps, { body: request.body, caller }).catch((error: unknown) => {
        request.log.warn({ address, reason: toAppError(error).code }, 'sign-in failed');
        throw error;
      });
      if ('token' in signedIn) return answerSignedIn(deps, { request, reply, signedIn });
      request.log.info({ userId: signedIn.user.id, address }, 'second factor requested');
      setHalfCookie(request, reply, signedIn.halfToken);
      return { factorRequired: signedIn.factors };
    },
  );

  // Public: signing out of a session that has ended is not an error.
  app.post(
    '/api/auth/logout',
    anyone({ write: { stepUp: 'never', audit: ['signed out'], token: null }, answer: messageAnswer }),
    async (request, reply) => {
      const [token, halfToken] = [readSessionToken(request), readHalfToken(request)];
      if (token !== null) {
        const session = await findSession({ db: deps.db, token, now: deps.clock.now() });
        request.session = session;
        await deps.db.transaction(async (tx) => {
          await endSession({ db: tx, token });
          if (session === null) return;
          const { id, username } = session.user;
          await deps.audit.record(tx, {
            actor: actorOf(request, deps.config),
            action: 'signed out',
            subject: { kind: 'user', id, name: username },
          });
        });
      }
      if (halfToken !== null) await endHalfSignIn(deps.db, halfToken);
      request.log.info({ address: sourceAddress(request, deps.config) }, 'signed out');
      clearSessionCookie(request, reply);
      clearHalfCookie(request, reply);
      return { message: 'Signed out' };
    },
  );

  app.get('/api/auth/user', evenBeforeFactor({ answer: sessionAnswer }), async (request) => ({
    user: getUser(request),
    displayTimezone: deps.config.displayTimezone,
    ...((await mustEnrolFactor(deps, getUser(request))) ? { mustEnrolFactor: true as const } : {}),
  }));

  app.post(
    '/api/auth/verify-password',
    user({
      write: { stepUp: 'password', audit: ['identity confirmed'], token: null },
      body: passwordBody,
      answer: successAnswer,
    }),
    async (request) => {
      await checkOwnPassword(deps, request, request.body.password);
      await deps.db.transaction(async (db) => {
        await revealKey({ db, sessionId: getSession(request).id, now: deps.clock.now() });
        await recordConfirmation({ ...deps, db }, request, 'password');
      });
      return { success: true, message: 'Password verified' };
    },
  );

  app.get('/api/navigation/pages', evenBeforeFactor({ answer: navigationPages }), async (request) => ({
    pages: navigationFor(getUser(request)),
  }));
}

/** The response schema drops the fields that screens do not read. */
const navigationFor = (user: { isAdmin: boolean }): NavigationPage[] =>
  PAGES.filter(({ audience }) => audience !== (user.isAdmin ? 'ordinary users' : 'administrators'));
