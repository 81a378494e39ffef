import { and, eq, gt, isNotNull, isNull, sql } from 'drizzle-orm';
import type { StopScope } from '#domain/orders/trading-stop.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { chatQuestions, notificationChannels, telegramBots, users } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';

const channelsWithOwner = (db: Queryable) =>
  db
    .select({
      channel: notificationChannels,
      owner: { id: users.id, username: users.username, isAdmin: users.isAdmin },
    })
    .from(notificationChannels)
    .innerJoin(users, eq(users.id, notificationChannels.ownerUserId))
    .where(
      and(
        eq(notificationChannels.kind, 'telegram'),
        eq(notificationChannels.enabled, true),
        isNotNull(notificationChannels.answersSince),
        eq(users.isActive, true),
      ),
    );
export type AnsweringChannel = Awaited<ReturnType<typeof channelsWithOwner>>[number];

/** Channels whose commands are answered: switched on, and their owners are active. */
export const listAnsweringChannels = (db: Queryable): Promise<AnsweringChannel[]> => channelsWithOwner(db);

export async function findNextUpdate(db: Queryable, botId: string): Promise<number | null> {
  const [row] = await db.select().from(telegramBots).where(eq(telegramBots.botId, botId));
  return row?.nextUpdate ?? null;
}

export async function storeNextUpdate(
  db: Queryable,
  { botId, nextUpdate }: { botId: string; nextUpdate: number },
): Promise<void> {
  await db
    .insert(telegramBots)
    .values({ botId, nextUpdate })
    .onConflictDoUpdate({ target: telegramBots.botId, set: { nextUpdate } });
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

/** Takes a question of the channel that has not expired, once; null when there is none. */
export async function takeQuestion(
  db: Queryable,
  { id, channelId, now }: { id: string; channelId: string; now: Date },
): Promise<StopScope | null> {
  const [row] = await db
    .update(chatQuestions)
    .set({ answeredAt: now })
    .where(
      and(
        eq(chatQuestions.id, id),
        eq(chatQuestions.channelId, channelId),
        isNull(chatQuestions.answeredAt),
        gt(chatQuestions.expiresAt, now),
      ),
    )
    .returning();
  return row === undefined ? null : { kind: row.scopeKind, value: row.scopeValue };
}

export async function muteUntil(
  db: Queryable,
  { channelId, until }: { channelId: string; until: Date },
): Promise<void> {
  await db
    .update(notificationChannels)
    .set({ mutedUntil: until })
    .where(eq(notificationChannels.id, channelId));
}
