import type { Deps } from '#server/deps.ts';
import type { AuditActor } from '#server/platform/audit/audit-trail.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { listFactors } from '#server/platform/http/second-factors.ts';
import { acceptRecoveryCode, countRecoveryCodes } from './recovery-codes.ts';
import { acceptTotpCode } from './totp.ts';

const APP_CODE = /^\d{6}$/;

/** Uses up a code of the user's app, or a recovery code; null when it is not accepted. */
export async function acceptCode(
  deps: Pick<Deps, 'clock' | 'secretBox'> & { db: Queryable },
  { userId, code }: { userId: string; code: string },
): Promise<'code' | 'recovery code' | null> {
  const now = deps.clock.now();
  const typed = code.replaceAll(/\s/g, '');
  if (APP_CODE.test(typed)) return (await acceptTotpCode(deps, { userId, code: typed, now })) ? 'code' : null;
  if ((await listFactors(deps.db, userId)).length === 0) return null;
  return (await acceptRecoveryCode(deps.db, { userId, code: typed, now })) ? 'recovery code' : null;
}

export async function recordRecoveryCode(
  deps: Pick<Deps, 'audit'> & { db: Queryable },
  { userId, actor }: { userId: string; actor: AuditActor },
): Promise<void> {
  await deps.audit.record(deps.db, {
    actor,
    action: 'recovery codes used',
    subject: { kind: 'user', id: userId, name: actor.name },
    after: { left: await countRecoveryCodes(deps.db, userId) },
  });
}
