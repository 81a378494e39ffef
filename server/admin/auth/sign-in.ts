import type { LoginBody } from '#contract/auth.ts';
import type { FactorKind } from '#contract/factors.ts';
import type { Deps } from '#server/deps.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { listFactors } from '#server/platform/http/second-factors.ts';
import { verifyPassword } from '#server/platform/password.ts';
import { typedUsernameKey, type UserRow } from '../users/user-rows.ts';
import { findUserByKey, holdForSignIn } from '../users/users.store.ts';
import { openHalfSignIn } from './half-sign-in.ts';
import { type Caller, noteSignIn, openSession, recordRefusal } from './open-session.ts';

type SignIn =
  | { user: UserRow; token: string }
  /** The password was right; one of the factors is still missing. */
  | { user: UserRow; halfToken: string; factors: FactorKind[] };

/**
 * Opens a new session, or half a sign-in for a user with a second factor. Refuses an unknown user, a wrong password and an
 * inactive user with the same error, after the same work.
 */
export async function signIn(
  deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'limitPasswordAttempts'>,
  { body, caller }: { body: LoginBody; caller: Caller },
): Promise<SignIn> {
  // A name that is too long for any account counts as unknown.
  const key = typedUsernameKey(body.username);
  const { address } = caller;
  const found: { user: UserRow | null } = { user: null };
  const isRight = await deps.limitPasswordAttempts({ account: key ?? body.username, address }, async () => {
    found.user = await findUserByKey(deps.db, key ?? '');
    const matches = await verifyPassword(
      found.user?.passwordHash ?? null,
      body.password,
      deps.config.passwordCost,
    );
    return matches && found.user?.isActive === true;
  });
  const { user } = found;
  if (!isRight || user === null) {
    await recordRefusal(deps, { user, proof: 'password', caller });
    throw new AppError('invalidLogin');
  }
  const signedIn = await deps.db.transaction(async (tx): Promise<SignIn> => {
    const mayEnter = await holdForSignIn(tx, { userId: user.id, passwordHash: user.passwordHash });
    if (!mayEnter) throw new AppError('invalidLogin');
    const factors = await listFactors(tx, user.id);
    if (factors.length > 0) {
      const halfToken = await openHalfSignIn(tx, { userId: user.id, now: deps.clock.now() });
      return { user, halfToken, factors };
    }
    return { user, token: await openSession({ ...deps, db: tx }, { user, proof: 'password', caller }) };
  });
  // The password alone does not make an address known.
  if ('token' in signedIn) await noteSignIn(deps, { userId: user.id, address });
  return signedIn;
}
