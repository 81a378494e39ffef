import { eq } from 'drizzle-orm';
import { type NoticeCode, SEVERITIES, type Severity } from '#contract/notices.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { insertRows } from '#server/platform/db/json-rows.ts';
import { noticeDeliveries, notificationChannels, users } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';

interface ToldNotice {
  id: string;
  code: NoticeCode;
  severity: Severity;
  recipientId: string | null;
}

/** Adds a row for each channel that wants a notice, in the transaction that tells it. */
export async function fillOutbox(
  tx: Tx,
  { notices, now }: { notices: readonly ToldNotice[]; now: Date },
): Promise<void> {
  if (notices.length === 0) return;
  const channels = await tx
    .select({
      id: notificationChannels.id,
      ownerUserId: notificationChannels.ownerUserId,
      minSeverity: notificationChannels.minSeverity,
      codes: notificationChannels.codes,
      isAdmin: users.isAdmin,
      isActive: users.isActive,
    })
    .from(notificationChannels)
    .innerJoin(users, eq(users.id, notificationChannels.ownerUserId))
    .where(eq(notificationChannels.enabled, true));
  const rows = notices.flatMap((notice) =>
    channels
      .filter((channel) => wants(channel, notice))
      .map((channel) => ({
        id: timeOrderedId(),
        channelId: channel.id,
        noticeId: notice.id,
        isCritical: notice.severity === 'critical',
        state: 'waiting' as const,
        createdAt: now,
        tries: 0,
      })),
  );
  if (rows.length > 0) await tx.execute(insertRows(noticeDeliveries, rows));
}

const rank = (severity: Severity) => SEVERITIES.indexOf(severity);

/** Administrators get what concerns the installation and everybody, others what concerns them. */
function wants(
  channel: {
    ownerUserId: string;
    minSeverity: Severity;
    codes: NoticeCode[] | null;
    isAdmin: boolean;
    isActive: boolean;
  },
  { code, severity, recipientId }: ToldNotice,
): boolean {
  const isAddressed =
    recipientId === null ? channel.isAdmin : channel.ownerUserId === recipientId && !channel.isAdmin;
  return (
    isAddressed &&
    channel.isActive &&
    rank(severity) >= rank(channel.minSeverity) &&
    (channel.codes === null || channel.codes.includes(code))
  );
}
