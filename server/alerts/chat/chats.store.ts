import { and, asc, desc, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import type { StopScope } from '#domain/orders/trading-stop.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { chatQuestions, notificationChannels, telegramBots, users } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';

const channelsWithOwner = (db: Queryable) =>
  db
    .select({
      channel: notificationChannels,
      owner: { id: users.id, username: users.username, isAdmin: users.isAdmin, isActive: users.isActive },
    })
    .from(notificationChannels)
    .innerJoin(users, eq(users.id, notificationChannels.ownerUserId))
    .where(
      and(
        eq(notificationChannels.kind, 'telegram'),
        eq(notificationChannels.enabled, true),
        isNotNull(notificationChannels.answersAfter),
      ),
    )
    .orderBy(desc(users.isAdmin), asc(notificationChannels.createdAt), asc(notificationChannels.id));
export type AnsweringChannel = Awaited<ReturnType<typeof channelsWithOwner>>[number];

/**
 * Channels whose commands are answered, those of administrators first. A deactivated owner's are switched off: what is
 * written meanwhile must not count once the owner is active again.
 */
export async function listAnsweringChannels(db: Queryable): Promise<AnsweringChannel[]> {
  const channels = await channelsWithOwner(db);
  const ended = channels.filter(({ owner }) => !owner.isActive).map(({ channel }) => channel.id);
  if (ended.length === 0) return channels;
  await db
    .update(notificationChannels)
    .set({ answersAfter: null })
    .where(inArray(notificationChannels.id, ended));
  return channels.filter(({ owner }) => owner.isActive);
}

/** Telegram keeps updates for a day, and after a week without any it may begin anew with lower ids. */
const OFFSET_MS = 2 * 86_400_000;

/** The first update that was not handled; null when Telegram holds none that was. */
export async function findNextUpdate(
  db: Queryable,
  { botId, now }: { botId: string; now: Date },
): Promise<number | null> {
  const [row] = await db.select().from(telegramBots).where(eq(telegramBots.botId, botId));
  if (row === undefined || now.getTime() - row.handledAt.getTime() > OFFSET_MS) return null;
  return row.nextUpdate;
}

export async function storeNextUpdate(db: Queryable, bot: typeof telegramBots.$inferInsert): Promise<void> {
  await db.insert(telegramBots).values(bot).onConflictDoUpdate({ target: telegramBots.botId, set: bot });
}

export async function noteAnswersError(
  db: Queryable,
  { ids, error }: { ids: readonly string[]; error: string | null },
): Promise<void> {
  await db
    .update(notificationChannels)
    .set({ answersError: error })
    .where(
      and(
        sql`${notificationChannels.id} = any(${sql.param([...ids])}::uuid[])`,
        sql`${notificationChannels.answersError} is distinct from ${error}`,
      ),
    );
}

export async function ask(
  db: Queryable,
  { channelId, scope, expiresAt }: { channelId: string; scope: StopScope; expiresAt: Date },
): Promise<string> {
  const id = timeOrderedId();
  const { kind: scopeKind, value: scopeValue } = scope;
  await db.insert(chatQuestions).values({ id, channelId, scopeKind, scopeValue, expiresAt });
  return id;
}

export async function findQuestion(
  db: Queryable,
  { id, channelId }: { id: string; channelId: string },
): Promise<{ scope: StopScope; expiresAt: Date } | null> {
  const [row] = await db
    .select()
    .from(chatQuestions)
    .where(and(eq(chatQuestions.id, id), eq(chatQuestions.channelId, channelId)));
  if (row === undefined) return null;
  const { scopeKind: kind, scopeValue: value, expiresAt } = row;
  return { scope: { kind, value }, expiresAt };
}

/** Null ends it. */
export async function muteUntil(
  db: Queryable,
  { channelId, until }: { channelId: string; until: Date | null },
): Promise<void> {
  await db
    .update(notificationChannels)
    .set({ mutedUntil: until })
    .where(eq(notificationChannels.id, channelId));
}
