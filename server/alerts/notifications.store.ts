import { and, count, desc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { Severity } from '#contract/notices.ts';
import type { Notification } from '#contract/notifications.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import { noticeReads, notices } from '#server/platform/db/schema.ts';
import type { Viewer } from './channels.store.ts';

interface Filter {
  severity?: Severity | undefined;
  isRead?: boolean | undefined;
}

const isReadBy = ({ id }: Viewer): SQL<boolean> =>
  sql<boolean>`exists (
    select from ${noticeReads} where ${noticeReads.userId} = ${id} and ${noticeReads.noticeId} = ${notices.id})`;

function matches(viewer: Viewer, { severity, isRead }: Filter = {}) {
  return and(
    viewer.isAdmin ? isNull(notices.recipientId) : eq(notices.recipientId, viewer.id),
    isNull(notices.heldUntil),
    severity === undefined ? undefined : eq(notices.severity, severity),
    isRead === undefined ? undefined : sql`${isReadBy(viewer)} = ${isRead}`,
  );
}

/** Newest first. */
export async function listNotifications(
  db: Queryable,
  { viewer, filter, page, limit }: { viewer: Viewer; filter: Filter; page: number; limit: number },
): Promise<Notification[]> {
  const { id, code, severity, at, text, link } = notices;
  const rows = await db
    .select({ id, code, severity, at, text, link, read: isReadBy(viewer) })
    .from(notices)
    .where(matches(viewer, filter))
    .orderBy(desc(notices.id))
    .limit(limit)
    .offset((page - 1) * limit);
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }));
}

export async function countNotifications(
  db: Queryable,
  { viewer, filter }: { viewer: Viewer; filter: Filter },
): Promise<number> {
  const [row] = await db.select({ count: count() }).from(notices).where(matches(viewer, filter));
  return row?.count ?? 0;
}

/** Ids of notices that the viewer is not told are ignored. */
export async function markRead(
  db: Queryable,
  { viewer, ids }: { viewer: Viewer; ids: readonly string[] | 'all' },
): Promise<void> {
  await db
    .insert(noticeReads)
    .select(
      db
        .select({ userId: sql<string>`${viewer.id}::uuid`.as('user_id'), noticeId: notices.id })
        .from(notices)
        .where(and(matches(viewer, { isRead: false }), ids === 'all' ? undefined : isOneOf(notices.id, ids))),
    )
    .onConflictDoNothing();
}
