import { and, eq } from 'drizzle-orm';
import type { FastifyRequest } from 'fastify';
import type { Deps } from '#server/deps.ts';
import type { AuditActor } from '#server/platform/audit/audit-trail.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { users } from '#server/platform/db/schema.ts';
import {
  createSession,
  removeDeadSessions,
  type SessionOrigin,
} from '#server/platform/http/access-sessions.ts';
import { isNewAddress, rememberAddress } from '#server/platform/http/password-guesses.ts';
import { sourceAddress } from '#server/platform/http/source-address.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';
import type { UserRow } from '../users/user-rows.ts';

/** Where a sign-in comes from. */
export interface Caller extends SessionOrigin {
  requestId: string;
}

export const callerOf = (request: FastifyRequest, config: Pick<Deps['config'], 'trustProxy'>): Caller => ({
  address: sourceAddress(request, config),
  userAgent: request.headers['user-agent'],
  requestId: request.id,
});

/** How somebody proved who they are. */
export type Proof =
  | 'password'
  | 'password and code'
  | 'password and recovery code'
  | 'password and passkey'
  | 'passkey';

/** Opens a session in the transaction that proved who its user is. Returns the token. */
export async function openSession(
  deps: Pick<Deps, 'audit' | 'clock'> & { db: Queryable },
  options: { user: UserRow; proof: Proof; caller: Caller },
): Promise<string> {
  const { user, proof, caller } = options;
  const { address, userAgent } = caller;
  const now = deps.clock.now();
  const token = await createSession({ db: deps.db, userId: user.id, address, userAgent, now });
  await deps.audit.record(deps.db, {
    actor: signInActor(user, caller),
    action: 'signed in',
    subject: { kind: 'user', id: user.id, name: user.username },
    after: { with: proof },
  });
  if (await isNewAddress(deps.db, { userId: user.id, address, now })) {
    await noteEvents(deps.db, [{ code: 'sign_in_new_address', userId: user.id, data: { address }, at: now }]);
  }
  return token;
}

/** What follows a completed sign-in, outside its transaction. */
export async function noteSignIn(
  deps: Pick<Deps, 'clock' | 'db'>,
  { userId, address }: { userId: string; address: string },
): Promise<void> {
  const now = deps.clock.now();
  await rememberAddress(deps.db, { userId, address, now });
  await removeDeadSessions({ db: deps.db, now });
}

/** The typed name of an unknown user is not recorded: people type passwords into the wrong field. */
export async function recordRefusal(
  deps: Pick<Deps, 'audit' | 'db'>,
  { user, proof, caller }: { user: UserRow | null; proof: Proof; caller: Caller },
): Promise<void> {
  await deps.audit.record(deps.db, {
    actor: signInActor(null, caller),
    action: 'sign-in refused',
    ...(user === null ? {} : { subject: { kind: 'user', id: user.id, name: user.username } }),
    after: { with: proof },
  });
}

export const signInActor = (user: UserRow | null, caller: Caller): AuditActor => ({
  kind: 'user',
  id: user?.id ?? null,
  name: user?.username ?? 'not signed in',
  address: caller.address,
  requestId: caller.requestId,
});

/** Locks the row of an active user until the transaction ends; false when the user was deactivated. */
export async function holdActiveUser(db: Queryable, userId: string): Promise<boolean> {
  const rows = await db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, userId), eq(users.isActive, true)))
    .for('share');
  return rows.length > 0;
}
