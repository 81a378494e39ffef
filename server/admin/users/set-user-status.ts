import type { Deps } from '#server/deps.ts';
import { endSessionsOf } from '#server/platform/http/access-sessions.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { setUserActive } from './users.store.ts';

/** Deactivation ends the user's sessions in the same transaction; nobody deactivates himself. */
export async function setUserStatus(
  deps: Pick<Deps, 'clock' | 'db'>,
  request: { userId: string; isActive: boolean; byUserId: string },
): Promise<void> {
  const { userId, isActive, byUserId } = request;
  if (!isActive && userId === byUserId) throw new AppError('ownAccount');
  await deps.db.transaction(async (tx) => {
    const found = await setUserActive(tx, { id: userId, isActive, now: deps.clock.now() });
    if (!found) throw new AppError('userNotFound');
    if (!isActive) await endSessionsOf({ db: tx, userId });
  });
}
