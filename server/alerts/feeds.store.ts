import { and, asc, eq, gte, inArray, isNull, lt, or, sql } from 'drizzle-orm';
import type { Feed } from '#contract/feeds.ts';
import { feedState, graceOf, skewSeconds } from '#domain/feed-state.ts';
import { timeframeMinutes } from '#domain/timeframe.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { feedGaps, feeds, hooks, users } from '#server/platform/db/schema.ts';
import type { Viewer } from './channels.store.ts';
import { isBetween, minuteOfDay, minutesOf } from './quiet-hours.ts';

export type FeedRow = typeof feeds.$inferSelect;

/** Since when candles of a feed are missed: since its hours began, or since the program listens; null outside its hours. */
export function countFrom(
  { hoursFrom, hoursTo }: Pick<FeedRow, 'hoursFrom' | 'hoursTo'>,
  { now, timeZone, listeningSince }: { now: Date; timeZone: string; listeningSince: Date },
): Date | null {
  if (hoursFrom === null || hoursTo === null) return listeningSince;
  if (!isBetween(now, { from: hoursFrom, to: hoursTo, timeZone })) return null;
  const sinceMinutes = (minuteOfDay(now, timeZone) - minutesOf(hoursFrom) + 1_440) % 1_440;
  const minuteMs = now.getTime() - (now.getTime() % 60_000);
  const opened = new Date(minuteMs - sinceMinutes * 60_000);
  return opened > listeningSince ? opened : listeningSince;
}

export const judged = (feed: FeedRow) => ({ ...feed, minutes: timeframeMinutes(feed.timeframe) });

/** Feeds of webhooks that are open: the others cannot bring anything. */
export const listWatchedFeeds = async (db: Queryable): Promise<FeedRow[]> =>
  (
    await db
      .select({ feed: feeds })
      .from(feeds)
      .innerJoin(hooks, eq(hooks.id, feeds.hookId))
      .innerJoin(users, eq(users.id, hooks.userId))
      .where(and(isNull(hooks.suspendedAt), eq(users.isActive, true)))
      .orderBy(asc(feeds.token), asc(feeds.timeframe))
  ).map(({ feed }) => feed);

const FORGOTTEN_MS = 90 * 86_400_000;
const GAPS_MS = 7 * 86_400_000;

/** Forgets feeds of deleted webhooks and those that brought nothing for months, and gaps that nobody is shown. */
export async function forgetOldFeeds(db: Queryable, now: Date): Promise<void> {
  await db
    .delete(feeds)
    .where(
      or(
        lt(feeds.lastReceivedAt, new Date(now.getTime() - FORGOTTEN_MS)),
        sql`not exists (select from ${hooks} where ${hooks.id} = ${feeds.hookId})`,
      ),
    );
  await db.delete(feedGaps).where(lt(feedGaps.endedAt, new Date(now.getTime() - GAPS_MS)));
}

/** The feeds that somebody may see, by token and length. */
export async function listFeeds(
  db: Queryable,
  { viewer, now, timeZone, id }: { viewer: Viewer; now: Date; timeZone: string; id?: string },
): Promise<Feed[]> {
  const rows = await db
    .select({ feed: feeds, owner: users.username })
    .from(feeds)
    .innerJoin(users, eq(users.id, feeds.ownerUserId))
    .where(
      and(
        viewer.isAdmin ? undefined : eq(feeds.ownerUserId, viewer.id),
        id === undefined ? undefined : eq(feeds.id, id),
      ),
    );
  const gaps = await countGaps(
    db,
    rows.map(({ feed }) => feed.id),
    now,
  );
  return rows
    .map(({ feed, owner }) => ({
      view: toView(feed, { owner, now, timeZone, gaps }),
      minutes: judged(feed).minutes,
    }))
    .toSorted(
      (one, other) =>
        one.view.token.localeCompare(other.view.token) || (one.minutes ?? 0) - (other.minutes ?? 0),
    )
    .map(({ view }) => view);
}

async function countGaps(db: Queryable, ids: readonly string[], now: Date): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ feedId: feedGaps.feedId, missing: sql<number>`sum(${feedGaps.missing})::int` })
    .from(feedGaps)
    .where(and(inArray(feedGaps.feedId, [...ids]), gte(feedGaps.endedAt, new Date(now.getTime() - GAPS_MS))))
    .groupBy(feedGaps.feedId);
  return new Map(rows.map(({ feedId, missing }) => [feedId, missing]));
}

/** Not after candles that came late, such as those of the past: they say nothing about clocks. */
function isJudged(feed: Parameters<typeof graceOf>[0] & FeedRow): boolean {
  const { minutes, lastCandleTime, lastReceivedAt, skewSeconds: known } = feed;
  if (minutes === null) return true;
  const last = skewSeconds({ candleTime: lastCandleTime, receivedAt: lastReceivedAt, minutes });
  return Math.abs(last - known) <= graceOf(feed);
}

function toView(
  row: FeedRow,
  options: { owner: string; now: Date; timeZone: string; gaps: ReadonlyMap<string, number> },
): Feed {
  const { owner, now, timeZone, gaps } = options;
  const feed = judged(row);
  const { state, expectedAt } = feedState(feed, {
    now,
    countFrom: countFrom(feed, { now, timeZone, listeningSince: new Date(0) }),
  });
  const { hoursFrom, hoursTo } = feed;
  // Silent is what was told: a feed that nobody could hear, because the program was down, is late.
  const shown = state === 'silent' && feed.silentSince === null ? 'late' : state;
  return {
    id: feed.id,
    token: feed.token,
    timeframe: feed.timeframe,
    processor: feed.processor === '' ? null : feed.processor,
    hookId: feed.hookId,
    owner,
    lastCandleAt: feed.lastReceivedAt.toISOString(),
    expectedAt: expectedAt?.toISOString() ?? null,
    state: shown,
    graceSeconds: graceOf(feed),
    gaps7d: gaps.get(feed.id) ?? 0,
    skewSeconds: isJudged(feed) ? feed.skewSeconds : null,
    hours: hoursFrom === null || hoursTo === null ? null : { from: hoursFrom, to: hoursTo },
  };
}
