import type { FastifyRequest } from 'fastify';
import type { Deps } from '#server/deps.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { rememberAddress } from '#server/platform/http/password-guesses.ts';
import { sourceAddress } from '#server/platform/http/source-address.ts';
import { verifyPassword } from '#server/platform/password.ts';
import { findUser } from '../users/users.store.ts';

/**
 * Checks the signed-in user's password before an action that cannot be undone. A wrong password is 403 and counts as a
 * failed attempt. Returns the stored hash.
 */
export async function checkOwnPassword(
  deps: Pick<Deps, 'clock' | 'config' | 'db' | 'limitPasswordAttempts'>,
  request: FastifyRequest,
  password: string,
): Promise<string> {
  const { id } = getUser(request);
  const found = await findUser(deps.db, id);
  if (found === null) throw new AppError('notSignedIn');
  const { usernameKey, passwordHash } = found.user;
  const now = deps.clock.now();
  const address = sourceAddress(request, deps.config);
  const isRight = await deps.limitPasswordAttempts({ account: usernameKey, address }, () =>
    verifyPassword(passwordHash, password),
  );
  if (!isRight) {
    request.log.warn({ userId: id, address }, 'password check failed');
    throw new AppError('invalidPassword');
  }
  await rememberAddress(deps.db, { userId: id, address, now });
  return passwordHash;
}
