import type { FastifyRequest } from 'fastify';
import type { Deps } from '#server/deps.ts';
import { getSession } from '#server/platform/access.ts';
import { endSessionsOf } from '#server/platform/access-sessions.ts';
import { AppError } from '#server/platform/errors.ts';
import { hashPassword } from '#server/platform/password.ts';
import { checkOwnPassword } from '../auth/check-password.ts';
import { replacePasswordHash } from '../users/users.store.ts';

/** Needs the current password; ends all other sessions of the user in the same transaction. */
export async function changePassword(
  deps: Pick<Deps, 'config' | 'clock' | 'db' | 'pool'>,
  request: FastifyRequest,
  body: { currentPassword: string; newPassword: string },
): Promise<void> {
  const session = getSession(request);
  const userId = session.user.id;
  const oldHash = await checkOwnPassword(deps, request, body.currentPassword);
  const newHash = await hashPassword(body.newPassword);
  await deps.db.transaction(async (tx) => {
    const replaced = await replacePasswordHash(tx, { userId, oldHash, newHash, now: deps.clock.now() });
    if (!replaced) throw new AppError('invalidPassword');
    await endSessionsOf({ db: tx, userId, exceptId: session.id });
  });
}
