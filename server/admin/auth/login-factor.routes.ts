import { signedInAnswer } from '#contract/auth.ts';
import { codeBody, passkeyLoginBody, stepUpAnswer, stepUpBody, webauthnOptions } from '#contract/factors.ts';
import type { Deps } from '#server/deps.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError, toAppError, tooManyAttempts } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { listFactors } from '#server/platform/http/second-factors.ts';
import { createSharedLimit } from '#server/platform/http/shared-limit.ts';
import { addressGroup, sourceAddress } from '#server/platform/http/source-address.ts';
import { answerSignedIn } from './answer-signed-in.ts';
import { signInWithCode, signInWithPasskey } from './complete-sign-in.ts';
import { relyingPartyOf } from './factors/relying-party.ts';
import { assertionOptions } from './factors/use-passkey.ts';
import { findHalfSignIn, readHalfToken } from './half-sign-in.ts';
import { callerOf } from './open-session.ts';
import { stepUp } from './step-up.ts';

const anyone = routeOptions({ access: 'public' });
const evenBeforeFactor = routeOptions({ access: 'user', beforeFactor: true });

/** Passkeys cannot be guessed; each of these calls leaves a row. */
const PASSKEY_CALLS = { keyPrefix: 'passkey-sign-in', points: 100, duration: 15 * 60 };

/** The second half of a sign-in, and the confirmation of an open session. */
export function registerLoginFactorRoutes(
  app: App,
  deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'limitPasswordAttempts' | 'pool' | 'secretBox'>,
): void {
  const limitPasskeyCalls = createSharedLimit(deps.pool, PASSKEY_CALLS);

  async function countPasskeyCall(address: string): Promise<void> {
    const waitMs = await limitPasskeyCalls(addressGroup(address));
    if (waitMs !== null) throw tooManyAttempts(waitMs);
  }

  app.post(
    '/api/auth/login/factor',
    anyone({
      write: { stepUp: 'never', audit: ['signed in', 'sign-in refused', 'recovery codes used'], token: null },
      body: codeBody,
      answer: signedInAnswer,
    }),
    async (request, reply) => {
      const caller = callerOf(request, deps.config);
      const halfToken = readHalfToken(request);
      const { code } = request.body;
      const signedIn = await signInWithCode(deps, { code, halfToken, caller }).catch((error: unknown) => {
        request.log.warn({ address: caller.address, reason: toAppError(error).code }, 'sign-in failed');
        throw error;
      });
      return answerSignedIn(deps, { request, reply, signedIn });
    },
  );

  app.post(
    '/api/auth/login/passkey/options',
    anyone({ write: { stepUp: 'never', audit: [], token: null }, answer: webauthnOptions }),
    async (request) => {
      const party = relyingPartyOf(request);
      await countPasskeyCall(sourceAddress(request, deps.config));
      const half = await findHalfSignIn(deps.db, { token: readHalfToken(request), now: deps.clock.now() });
      const asFactor = half !== null && (await listFactors(deps.db, half.id)).includes('passkey');
      return {
        ...(await assertionOptions(deps, { purpose: 'sign-in', userId: asFactor ? half.id : null, party })),
      };
    },
  );

  app.post(
    '/api/auth/login/passkey',
    anyone({
      write: { stepUp: 'never', audit: ['signed in', 'sign-in refused'], token: null },
      body: passkeyLoginBody,
      answer: signedInAnswer,
    }),
    async (request, reply) => {
      const party = relyingPartyOf(request);
      const caller = callerOf(request, deps.config);
      await countPasskeyCall(caller.address);
      const { assertion } = request.body;
      const halfToken = readHalfToken(request);
      const signedIn = await signInWithPasskey(deps, { assertion, halfToken, party, caller }).catch(
        (error: unknown) => {
          request.log.warn({ address: caller.address, reason: toAppError(error).code }, 'sign-in failed');
          throw error;
        },
      );
      return answerSignedIn(deps, { request, reply, signedIn });
    },
  );

  app.post(
    '/api/auth/step-up',
    evenBeforeFactor({
      write: { stepUp: 'password', audit: ['identity confirmed', 'recovery codes used'], token: null },
      body: stepUpBody,
      answer: stepUpAnswer,
    }),
    async (request) => ({ until: (await stepUp(deps, request, request.body)).toISOString() }),
  );

  app.post(
    '/api/auth/step-up/options',
    evenBeforeFactor({ write: { stepUp: 'never', audit: [], token: null }, answer: webauthnOptions }),
    async (request) => {
      const party = relyingPartyOf(request);
      const { id: userId } = getUser(request);
      if (!(await listFactors(deps.db, userId)).includes('passkey')) throw new AppError('passkeyNotFound');
      return { ...(await assertionOptions(deps, { purpose: 'step-up', userId, party })) };
    },
  );
}
