import { and, asc, count, eq, sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/db/database.ts';
import { noticeDeliveries, notificationChannels, users } from '#server/platform/db/schema.ts';

export type ChannelRow = typeof notificationChannels.$inferSelect;

/** Whose channels somebody may see and change: administrators all, others their own. */
export interface Viewer {
  id: string;
  isAdmin: boolean;
}

const mayManage = ({ id, isAdmin }: Viewer) =>
  isAdmin ? undefined : eq(notificationChannels.ownerUserId, id);

const waiting = sql<number>`(
  select count(*)::int from ${noticeDeliveries}
  where ${noticeDeliveries.channelId} = ${notificationChannels.id} and ${noticeDeliveries.state} = 'waiting')`;

const withOwner = (db: Queryable) =>
  db
    .select({ channel: notificationChannels, owner: { id: users.id, username: users.username }, waiting })
    .from(notificationChannels)
    .innerJoin(users, eq(users.id, notificationChannels.ownerUserId))
    .$dynamic();
export type ShownChannel = Awaited<ReturnType<typeof withOwner>>[number];

/** Oldest first. */
export const listChannels = (db: Queryable, viewer: Viewer): Promise<ShownChannel[]> =>
  withOwner(db)
    .where(mayManage(viewer))
    .orderBy(asc(notificationChannels.createdAt), asc(notificationChannels.id));

export async function findChannel(
  db: Queryable,
  { id, viewer }: { id: string; viewer: Viewer },
): Promise<ShownChannel | null> {
  const [row] = await withOwner(db).where(and(eq(notificationChannels.id, id), mayManage(viewer)));
  return row ?? null;
}

export async function countChannelsOf(db: Queryable, ownerUserId: string): Promise<number> {
  const [row] = await db
    .select({ count: count() })
    .from(notificationChannels)
    .where(eq(notificationChannels.ownerUserId, ownerUserId));
  return row?.count ?? 0;
}

/** With what waits to be sent through it. */
export async function deleteChannel(tx: Queryable, id: string): Promise<boolean> {
  const deleted = await tx
    .delete(notificationChannels)
    .where(eq(notificationChannels.id, id))
    .returning({ id: notificationChannels.id });
  await tx.delete(noticeDeliveries).where(eq(noticeDeliveries.channelId, id));
  return deleted.length > 0;
}
