import type { WebauthnResponse } from '#contract/factors.ts';
import type { Deps } from '#server/deps.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { limitFactorAttempts } from '#server/platform/http/factor-limits.ts';
import type { UserRow } from '../users/user-rows.ts';
import { findUser } from '../users/users.store.ts';
import { acceptCode, recordRecoveryCode } from './factors/accept-code.ts';
import { notePasskeyUse } from './factors/passkeys.store.ts';
import type { RelyingParty } from './factors/relying-party.ts';
import { checkAssertion } from './factors/use-passkey.ts';
import { endHalfSignIn, findHalfSignIn } from './half-sign-in.ts';
import {
  type Caller,
  holdActiveUser,
  noteSignIn,
  openSession,
  recordRefusal,
  signInActor,
} from './open-session.ts';

type CompleteDeps = Pick<Deps, 'audit' | 'clock' | 'db' | 'secretBox'>;

/** Completes half a sign-in with a code of the app or a recovery code. */
export async function signInWithCode(
  deps: CompleteDeps,
  { code, halfToken, caller }: { code: string; halfToken: string | null; caller: Caller },
): Promise<{ user: UserRow; token: string }> {
  const half = await findHalfSignIn(deps.db, { token: halfToken, now: deps.clock.now() });
  if (half === null || halfToken === null) throw new AppError('halfSignInEnded');
  const attempt = { account: half.usernameKey, address: caller.address };
  // One transaction: a code is used up only by a session that opens.
  const token = await limitFactorAttempts(deps, attempt, () =>
    deps.db.transaction(async (db) => {
      if (!(await holdActiveUser(db, half.id))) throw new AppError('halfSignInEnded');
      const used = await acceptCode({ ...deps, db }, { userId: half.id, code });
      if (used === null) return null;
      if (!(await endHalfSignIn(db, halfToken))) throw new AppError('halfSignInEnded');
      const actor = signInActor(half, caller);
      if (used === 'recovery code') await recordRecoveryCode({ ...deps, db }, { userId: half.id, actor });
      return openSession({ ...deps, db }, { user: half, proof: `password and ${used}`, caller });
    }),
  );
  if (token === null) {
    await recordRefusal(deps, { user: half, proof: 'password and code', caller });
    throw new AppError('invalidFactor');
  }
  await noteSignIn(deps, { userId: half.id, address: caller.address });
  return { user: half, token };
}

/** Signs in with a passkey: after the password, or alone when the authenticator has verified its user. */
export async function signInWithPasskey(
  deps: CompleteDeps,
  options: {
    assertion: WebauthnResponse;
    halfToken: string | null;
    party: RelyingParty;
    caller: Caller;
  },
): Promise<{ user: UserRow; token: string }> {
  const { assertion, halfToken, party, caller } = options;
  const half = await findHalfSignIn(deps.db, { token: halfToken, now: deps.clock.now() });
  const users = half === null ? [null] : [null, half.id];
  const used = await checkAssertion(deps, { assertion, purpose: 'sign-in', users, party });
  const found = used === null ? null : await findUser(deps.db, used.passkey.userId);
  const user = found?.user ?? null;
  const proof = used?.challengedUser ? 'password and passkey' : 'passkey';
  const token =
    used === null || user === null
      ? null
      : await deps.db.transaction(async (db) => {
          if (!(await holdActiveUser(db, user.id))) return null;
          const { passkey, counter } = used;
          if (!(await notePasskeyUse(db, { passkey, counter, now: deps.clock.now() }))) return null;
          const isEnded = halfToken !== null && (await endHalfSignIn(db, halfToken));
          if (used.challengedUser !== null && !isEnded) throw new AppError('halfSignInEnded');
          return openSession({ ...deps, db }, { user, proof, caller });
        });
  if (token === null || user === null) {
    await recordRefusal(deps, { user, proof, caller });
    throw new AppError('invalidFactor');
  }
  await noteSignIn(deps, { userId: user.id, address: caller.address });
  return { user, token };
}
