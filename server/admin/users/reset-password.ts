import { and, eq } from 'drizzle-orm';
import type { Deps } from '#server/deps.ts';
import { aboutUser } from '#server/platform/audit/audit-subjects.ts';
import { type AuditTrail, programActor } from '#server/platform/audit/audit-trail.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { users } from '#server/platform/db/schema.ts';
import { endSessionsOf } from '#server/platform/http/access-sessions.ts';
import { endTokensOf } from '#server/platform/http/access-tokens.ts';
import { removeFactors } from '#server/platform/http/second-factors.ts';
import { generatePassword, hashPassword } from '#server/platform/password.ts';
import { type UserRow, usernameKey } from './user-rows.ts';
import { findUserByKey } from './users.store.ts';

/**
 * Replaces a forgotten password with a generated one, removes the second factors and ends every session and API token of
 * the user; for operators with access to the machine, `audit` is null when they have lost SECRET_KEY. For an unknown user
 * it returns the names of the administrators.
 */
export async function resetPassword(
  { db, clock, audit }: Pick<Deps, 'clock'> & { db: Queryable; audit: Pick<AuditTrail, 'record'> | null },
  username: string,
): Promise<
  { user: UserRow; password: string; hadFactors: boolean } | { user: null; administrators: string[] }
> {
  const user = await findUserByKey(db, usernameKey(username));
  if (user === null) return { user, administrators: await listAdministrators(db) };
  const password = generatePassword();
  const passwordHash = await hashPassword(password);
  const removed = await db.transaction(async (tx) => {
    await tx.update(users).set({ passwordHash, updatedAt: clock.now() }).where(eq(users.id, user.id));
    const factors = await removeFactors(tx, user.id);
    await endSessionsOf({ db: tx, userId: user.id });
    await endTokensOf({ db: tx, userId: user.id });
    await audit?.record(tx, {
      actor: programActor('npm run reset-password', 'command'),
      action: 'password reset',
      subject: aboutUser(user),
      before: factors,
    });
    return factors;
  });
  return { user, password, hadFactors: removed.totp || removed.passkeys > 0 };
}

async function listAdministrators(db: Queryable): Promise<string[]> {
  const administrators = await db
    .select({ username: users.username })
    .from(users)
    .where(and(eq(users.isAdmin, true), eq(users.isActive, true)))
    .orderBy(users.createdAt, users.id);
  return administrators.map(({ username }) => username);
}
