import type { FastifyRequest } from 'fastify';
import type { Deps } from '#server/deps.ts';
import { aboutUser } from '#server/platform/audit/audit-subjects.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { getUser } from '#server/platform/http/access.ts';
import { createSession, endSessionsOf } from '#server/platform/http/access-sessions.ts';
import { endTokensOf } from '#server/platform/http/access-tokens.ts';
import { AppError, invalidFields } from '#server/platform/http/errors.ts';
import { listFactors } from '#server/platform/http/second-factors.ts';
import { sourceAddress } from '#server/platform/http/source-address.ts';
import { hashPassword } from '#server/platform/password.ts';
import { checkOwnPassword } from '../auth/check-password.ts';
import { passwordFault } from '../users/password-rules.ts';
import { replacePasswordHash } from '../users/users.store.ts';

/**
 * Requires the current password. Ends every session and API token of the user in the same transaction, including the caller's, so that
 * a stolen cookie is worthless. Returns the token of a new session for the caller.
 */
export async function changePassword(
  deps: Pick<Deps, 'audit' | 'config' | 'clock' | 'db' | 'limitPasswordAttempts'>,
  request: FastifyRequest,
  body: { currentPassword: string; newPassword: string },
): Promise<string> {
  const { id: userId, username, isAdmin } = getUser(request);
  const { currentPassword, newPassword } = body;
  const { exchangeMode, passwordCost } = deps.config;
  const fault = await passwordFault({
    username,
    isAdmin,
    exchangeMode,
    hasFactor: (await listFactors(deps.db, userId)).length > 0,
    currentPassword,
    password: newPassword,
  });
  if (fault !== null) throw invalidFields([{ path: 'newPassword', message: fault }]);
  const oldHash = await checkOwnPassword(deps, request, currentPassword);
  const newHash = await hashPassword(newPassword, passwordCost);
  const now = deps.clock.now();
  return deps.db.transaction(async (tx) => {
    const replaced = await replacePasswordHash(tx, { userId, oldHash, newHash, now });
    if (!replaced) throw new AppError('invalidPassword');
    await endSessionsOf({ db: tx, userId });
    await endTokensOf({ db: tx, userId });
    await deps.audit.record(tx, {
      actor: actorOf(request, deps.config),
      action: 'password changed',
      subject: aboutUser({ id: userId, username }),
    });
    return createSession({
      db: tx,
      userId,
      address: sourceAddress(request, deps.config),
      userAgent: request.headers['user-agent'],
      now,
    });
  });
}
