import { and, eq, gt } from 'drizzle-orm';
import type { Deps } from '#server/deps.ts';
import { sessions, users } from '#server/platform/db/schema.ts';
import { SESSION_IDLE_MS } from '#server/platform/http/access-sessions.ts';

/**
 * Whether a session may still be told anything: alive, of an active user, in the role it had. Asking does not count
 * as use: an open tab alone must not keep a session from running out.
 */
export async function isSessionLiving(
  deps: Pick<Deps, 'db' | 'clock'>,
  session: { id: string; isAdmin: boolean },
): Promise<boolean> {
  const now = deps.clock.now();
  const rows = await deps.db
    .select({ id: sessions.id })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(
        eq(sessions.id, session.id),
        eq(users.isActive, true),
        eq(users.isAdmin, session.isAdmin),
        gt(sessions.expiresAt, now),
        gt(sessions.lastSeenAt, new Date(now.getTime() - SESSION_IDLE_MS)),
      ),
    );
  return rows.length > 0;
}
