import type { CurrentUser, LoginBody } from '#contract/auth.ts';
import type { Deps } from '#server/deps.ts';
import { createSession, removeDeadSessions } from '#server/platform/http/access-sessions.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { rememberAddress } from '#server/platform/http/password-guesses.ts';
import { verifyPassword } from '#server/platform/password.ts';
import { toCurrentUser, typedUsernameKey, type UserRow } from '../users/user-rows.ts';
import { findUserByKey, holdForSignIn } from '../users/users.store.ts';

/**
 * Opens a new session. Refuses an unknown user, a wrong password and an inactive user with the same error, after the
 * same work.
 */
export async function signIn(
  deps: Pick<Deps, 'clock' | 'db' | 'limitPasswordAttempts'>,
  request: LoginBody & { address: string },
): Promise<{ user: CurrentUser; token: string }> {
  // A name that is too long for any account counts as unknown.
  const key = typedUsernameKey(request.username);
  const { address } = request;
  const now = deps.clock.now();
  const found: { user: UserRow | null } = { user: null };
  const isRight = await deps.limitPasswordAttempts(
    { account: key ?? request.username, address },
    async () => {
      found.user = await findUserByKey(deps.db, key ?? '');
      const matches = await verifyPassword(found.user?.passwordHash ?? null, request.password);
      return matches && found.user?.isActive === true;
    },
  );
  const { user } = found;
  if (!isRight || user === null) throw new AppError('invalidLogin');

  const token = await deps.db.transaction(async (tx) => {
    const mayEnter = await holdForSignIn(tx, { userId: user.id, passwordHash: user.passwordHash });
    if (!mayEnter) throw new AppError('invalidLogin');
    return createSession({ db: tx, userId: user.id, now });
  });
  await rememberAddress(deps.db, { userId: user.id, address, now });
  await removeDeadSessions({ db: deps.db, now });
  return { user: toCurrentUser(user), token };
}
