import type { FastifyRequest } from 'fastify';
import type { Deps } from '#server/deps.ts';
import { getUser } from '#server/platform/http/access.ts';
import { createSession, endSessionsOf } from '#server/platform/http/access-sessions.ts';
import { AppError, invalidFields } from '#server/platform/http/errors.ts';
import { hashPassword } from '#server/platform/password.ts';
import { checkOwnPassword } from '../auth/check-password.ts';
import { passwordFault } from '../users/password-rules.ts';
import { replacePasswordHash } from '../users/users.store.ts';

/**
 * Requires the current password. Ends every session of the user in the same transaction, including the caller's, so that
 * a stolen cookie is worthless. Returns the token of a new session for the caller.
 */
export async function changePassword(
  deps: Pick<Deps, 'config' | 'clock' | 'db' | 'limitPasswordAttempts'>,
  request: FastifyRequest,
  body: { currentPassword: string; newPassword: string },
): Promise<string> {
  const { id: userId, username, isAdmin } = getUser(request);
  const { currentPassword, newPassword } = body;
  const { exchangeMode } = deps.config;
  const fault = await passwordFault({
    username,
    isAdmin,
    exchangeMode,
    currentPassword,
    password: newPassword,
  });
  if (fault !== null) throw invalidFields([{ path: 'newPassword', message: fault }]);
  const oldHash = await checkOwnPassword(deps, request, currentPassword);
  const newHash = await hashPassword(newPassword);
  const now = deps.clock.now();
  return deps.db.transaction(async (tx) => {
    const replaced = await replacePasswordHash(tx, { userId, oldHash, newHash, now });
    if (!replaced) throw new AppError('invalidPassword');
    await endSessionsOf({ db: tx, userId });
    return createSession({ db: tx, userId, now });
  });
}
