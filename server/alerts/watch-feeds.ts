import { eq, sql } from 'drizzle-orm';
import { CANDLES_OF_A_RHYTHM, feedState, missingBetween, skewSeconds } from '#domain/feed-state.ts';
import { displayTimeframe, timeframeMinutes } from '#domain/timeframe.ts';
import type { Deps } from '#server/deps.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { insertRows, updateRows } from '#server/platform/db/json-rows.ts';
import { feedGaps, feedSweeps, feeds } from '#server/platform/db/schema.ts';
import { firstIdOf, timeOrderedId } from '#server/platform/ids.ts';
import { type NoticeEvent, noteEvents } from '#server/platform/notices/note-event.ts';
import { countFrom, type FeedRow, forgetOldFeeds, judged, listWatchedFeeds } from './feeds.store.ts';
import { beginStates, endStates, listStates } from './notice-states.store.ts';
import { isBetween } from './quiet-hours.ts';

type WatchDeps = Pick<Deps, 'clock' | 'config' | 'db'>;

/** Rows of a slow commit, or with ids of a slow clock, appear late: the last part is read again each time. */
const OVERLAP_MS = 40_000;
/** The states of feeds that were told to be late. */
const LATE = 'feed late:';
/** The first sweep looks back so far. */
const FIRST_MS = 6 * 3_600_000;

interface Arrived {
  [field: string]: unknown;
  hookId: string;
  ownerUserId: string;
  token: string;
  timeframe: string;
  processor: string;
  /** Milliseconds since 1970, each once, oldest first. */
  times: number[];
  lastReceivedAt: Date;
  newestReceivedAt: Date;
}

/**
 * Learns from the price logs which series come and how late they are, and tells of those that are late, went silent or
 * came back. A sweep beside the ingest: storing a candle costs nothing more. One instance at a time.
 */
export async function watchFeeds(
  deps: WatchDeps,
  { listeningSince }: { listeningSince: Date },
): Promise<void> {
  const { clock, config, db } = deps;
  const now = clock.now();
  const timeZone = config.displayTimezone;
  await db.transaction((tx) => learn(tx, { now, timeZone }));
  await db.transaction(async (tx) => {
    const toldLate = new Set((await listStates(tx, LATE)).map(({ key }) => key));
    const late: FeedRow[] = [];
    const silent: FeedRow[] = [];
    const back: FeedRow[] = [];
    const quiet: FeedRow[] = [];
    for (const feed of await listWatchedFeeds(tx)) {
      const from = countFrom(feed, { now, timeZone, listeningSince });
      const { state } = feedState(judged(feed), { now, countFrom: from });
      const isToldLate = toldLate.has(lateKey(feed));
      const isTold = feed.silentSince !== null || isToldLate;
      if (state === 'silent' && feed.silentSince === null) silent.push(feed);
      if (state === 'late' && !isTold) late.push(feed);
      // Outside its hours a silent feed stays silent: only a candle or the operator ends that.
      if (!isTold || state === 'silent' || (state === 'late' && isToldLate) || from === null) continue;
      (state === 'muted' ? quiet : back).push(feed);
    }
    const changes = [
      ...silent.map(({ id }) => ({ id, set: { silentSince: now } })),
      ...[...back, ...quiet].map(({ id }) => ({ id, set: { silentSince: null } })),
    ];
    if (changes.length > 0) await tx.execute(updateRows(feeds, changes));
    await endStates(tx, [...silent, ...back, ...quiet].map(lateKey));
    await beginStates(tx, { keys: late.map(lateKey), now });
    await noteEvents(tx, [
      ...eventsOf('feed_late', late, now),
      ...eventsOf('feed_silent', silent, now),
      ...eventsOf('feed_recovered', back, now),
    ]);
    await forgetOldFeeds(tx, now);
  });
}

const lateKey = ({ id }: FeedRow): string => `${LATE}${id}`;

async function learn(tx: Tx, { now, timeZone }: { now: Date; timeZone: string }): Promise<void> {
  const [sweep] = await tx.select().from(feedSweeps).for('update');
  const from = sweep?.sweptTo ?? firstIdOf(new Date(now.getTime() - FIRST_MS));
  const arrived = await readArrived(tx, from);
  if (arrived.length > 0) {
    const known = new Map((await tx.select().from(feeds)).map((row) => [keyOf(row), row]));
    const learned = arrived.map((one) => learnFrom(one, known.get(keyOf(one)), timeZone));
    const added = learned.filter(({ isNew }) => isNew).map(({ feed }) => feed);
    const changed = learned
      .filter(({ isNew }) => !isNew)
      .map(({ feed: { id, candles, lastCandleTime, lastReceivedAt, skewSeconds: skew, ownerUserId } }) => ({
        id,
        set: { candles, lastCandleTime, lastReceivedAt, skewSeconds: skew, ownerUserId },
      }));
    const gaps = learned.flatMap((one) => one.gaps);
    if (added.length > 0) await tx.execute(insertRows(feeds, added, sql`on conflict do nothing`));
    if (changed.length > 0) await tx.execute(updateRows(feeds, changed));
    if (gaps.length > 0) await tx.execute(insertRows(feedGaps, gaps, sql`on conflict do nothing`));
  }
  const sweptTo = firstIdOf(new Date(now.getTime() - OVERLAP_MS));
  if (sweep === undefined) await tx.insert(feedSweeps).values({ sweptTo }).onConflictDoNothing();
  else if (sweptTo > sweep.sweptTo)
    await tx.update(feedSweeps).set({ sweptTo }).where(eq(feedSweeps.isOnly, true));
}

async function readArrived(db: Queryable, from: string): Promise<Arrived[]> {
  const { rows } = await db.execute<Arrived>(sql`
    select hook_id as "hookId", (array_agg(owner_user_id))[1] as "ownerUserId", token, timeframe,
      coalesce(processor, '') as processor,
      array_agg(distinct (extract(epoch from candle_time_server) * 1000)::float8) as times,
      max(received_at) as "lastReceivedAt",
      (array_agg(received_at order by candle_time_server desc))[1] as "newestReceivedAt"
    from price_logs where id >= ${from}
    group by hook_id, token, timeframe, coalesce(processor, '')`);
  return rows.map((row) => ({
    ...row,
    times: row.times.toSorted((one, other) => one - other),
    lastReceivedAt: new Date(row.lastReceivedAt),
    newestReceivedAt: new Date(row.newestReceivedAt),
  }));
}

const keyOf = ({
  hookId,
  token,
  timeframe,
  processor,
}: Pick<FeedRow, 'hookId' | 'token' | 'timeframe' | 'processor'>) =>
  JSON.stringify([hookId, token, timeframe, processor]);

/** Only candles that are newer than the last one count, so that reading a row twice changes nothing. */
function learnFrom(arrived: Arrived, known: FeedRow | undefined, timeZone: string) {
  const { hookId, ownerUserId, token, timeframe, processor, times } = arrived;
  const minutes = timeframeMinutes(timeframe);
  const after = known?.lastCandleTime.getTime() ?? Number.NEGATIVE_INFINITY;
  const news = times.filter((time) => time > after);
  const newest = Math.max(after, ...news);
  const id = known?.id ?? timeOrderedId();
  const isRhythm = (known?.candles ?? 0) + news.length >= CANDLES_OF_A_RHYTHM;
  const skew =
    minutes === null || !isInRhythm({ news, known, arrived, minutes })
      ? (known?.skewSeconds ?? 0)
      : skewSeconds({ candleTime: new Date(newest), receivedAt: arrived.newestReceivedAt, minutes });
  const feed = {
    id,
    hookId,
    ownerUserId,
    token,
    timeframe,
    processor,
    candles: Math.min((known?.candles ?? 0) + news.length, CANDLES_OF_A_RHYTHM),
    lastCandleTime: new Date(newest),
    lastReceivedAt:
      known !== undefined && known.lastReceivedAt > arrived.lastReceivedAt
        ? known.lastReceivedAt
        : arrived.lastReceivedAt,
    skewSeconds: skew,
    muted: known?.muted ?? false,
  };
  const points = known === undefined ? news : [known.lastCandleTime.getTime(), ...news];
  const gaps = minutes === null || !isRhythm ? [] : gapsIn(points, { feedId: id, minutes, known, timeZone });
  return { feed, gaps, isNew: known === undefined };
}

/** Candles that come faster than their timeframe are of the past, and say nothing about the clocks. */
function isInRhythm(options: {
  news: readonly number[];
  known: FeedRow | undefined;
  arrived: Arrived;
  minutes: number;
}): boolean {
  const { news, known, arrived, minutes } = options;
  if (news.length !== 1) return false;
  const apartMs = arrived.newestReceivedAt.getTime() - (known?.lastReceivedAt.getTime() ?? 0);
  return apartMs > minutes * 30_000;
}

function gapsIn(
  points: readonly number[],
  {
    feedId,
    minutes,
    known,
    timeZone,
  }: { feedId: string; minutes: number; known: FeedRow | undefined; timeZone: string },
) {
  const { hoursFrom: from = null, hoursTo: to = null } = known ?? {};
  return points.flatMap((time, index) => {
    const before = points[index - 1];
    if (before === undefined) return [];
    const missing = missingBetween(new Date(before), new Date(time), minutes).filter(
      (at) => from === null || to === null || isBetween(at, { from, to, timeZone }),
    );
    return missing.length === 0 ? [] : [{ feedId, endedAt: new Date(time), missing: missing.length }];
  });
}

const MOST_NAMED = 5;

/** One notice for all feeds of an owner: they usually stop together. */
function eventsOf(
  code: 'feed_late' | 'feed_silent' | 'feed_recovered',
  of: readonly FeedRow[],
  at: Date,
): NoticeEvent[] {
  return [...Map.groupBy(of, ({ ownerUserId }) => ownerUserId)].map(([userId, own]) => {
    const names = own.map(({ token, timeframe, processor }) =>
      [token, displayTimeframe(timeframe), processor === '' ? '' : `(${processor})`]
        .filter(Boolean)
        .join(' '),
    );
    const rest = names.length - MOST_NAMED;
    const named = names.slice(0, MOST_NAMED).join(', ');
    return {
      code,
      userId,
      at,
      data: {
        feeds: rest > 0 ? `${named} and ${rest} more` : named,
        count: names.length,
        token: own.length === 1 ? (own[0]?.token ?? null) : null,
      },
    };
  });
}
