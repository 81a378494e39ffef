import type { CurrentUser, LoginBody } from '#contract/auth.ts';
import type { Deps } from '#server/deps.ts';
import { createSession, removeDeadSessions } from '#server/platform/access-sessions.ts';
import { AppError } from '#server/platform/errors.ts';
import { verifyPassword } from '#server/platform/password.ts';
import { limitPasswordAttempts } from '#server/platform/rate-limits.ts';
import { toCurrentUser } from '../users/user-rows.ts';
import { usernameKey } from '../users/username-key.ts';
import { findUserByKey, holdForSignIn } from '../users/users.store.ts';

/**
 * Opens a new session. An unknown user, a wrong password and an inactive user are refused alike, after the
 * same work.
 */
export async function signIn(
  deps: Pick<Deps, 'clock' | 'db' | 'pool'>,
  request: LoginBody & { address: string },
): Promise<{ user: CurrentUser; token: string }> {
  const account = usernameKey(request.username);
  const user = await findUserByKey(deps.db, account);
  const isRight = await limitPasswordAttempts({
    pool: deps.pool,
    attempt: { account, address: request.address },
    check: async () => {
      const matches = await verifyPassword(user?.passwordHash ?? null, request.password);
      return matches && user?.isActive === true;
    },
  });
  if (!isRight || user === null) throw new AppError('invalidLogin');

  const now = deps.clock.now();
  const token = await deps.db.transaction(async (tx) => {
    const mayEnter = await holdForSignIn(tx, { userId: user.id, passwordHash: user.passwordHash });
    if (!mayEnter) throw new AppError('invalidLogin');
    return createSession({ db: tx, userId: user.id, now });
  });
  await removeDeadSessions({ db: deps.db, now });
  return { user: toCurrentUser(user), token };
}
