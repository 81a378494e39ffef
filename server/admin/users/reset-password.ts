import { and, eq } from 'drizzle-orm';
import type { Deps } from '#server/deps.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { users } from '#server/platform/db/schema.ts';
import { endSessionsOf } from '#server/platform/http/access-sessions.ts';
import { generatePassword, hashPassword } from '#server/platform/password.ts';
import { type UserRow, usernameKey } from './user-rows.ts';
import { findUserByKey } from './users.store.ts';

/**
 * Replaces a forgotten password with a generated one and ends every session of the user; for operators with access to the
 * machine. For an unknown user it returns the names of the administrators.
 */
export async function resetPassword(
  { db, clock }: Pick<Deps, 'clock'> & { db: Queryable },
  username: string,
): Promise<{ user: UserRow; password: string } | { user: null; administrators: string[] }> {
  const user = await findUserByKey(db, usernameKey(username));
  if (user === null) return { user, administrators: await listAdministrators(db) };
  const password = generatePassword();
  const passwordHash = await hashPassword(password);
  await db.transaction(async (tx) => {
    await tx.update(users).set({ passwordHash, updatedAt: clock.now() }).where(eq(users.id, user.id));
    await endSessionsOf({ db: tx, userId: user.id });
  });
  return { user, password };
}

async function listAdministrators(db: Queryable): Promise<string[]> {
  const administrators = await db
    .select({ username: users.username })
    .from(users)
    .where(and(eq(users.isAdmin, true), eq(users.isActive, true)))
    .orderBy(users.createdAt, users.id);
  return administrators.map(({ username }) => username);
}
