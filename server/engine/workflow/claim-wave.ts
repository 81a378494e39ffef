import { and, eq, inArray, or, sql } from 'drizzle-orm';
import type { ExitScope } from '#domain/exits/select-exits.ts';
import type { Reversal } from '#domain/orders/held-position.ts';
import { findStop, type TradingStop } from '#domain/orders/trading-stop.ts';
import { EXCHANGE_PLATFORMS, type TradingSettings } from '#domain/user-settings.ts';
import type { Denial } from '#domain/workflow/denials.ts';
import { listTradingSettings } from '#server/admin/settings/settings.store.ts';
import { listStops } from '#server/admin/stops/trading-stops.store.ts';
import { denyClosedSince, listNewerCloses } from '#server/engine/records/newer-closes.ts';
import {
  type LiveTrade,
  listLiveTrades,
  listStandingTrades,
  type TradeRow,
} from '#server/engine/records/trades.store.ts';
import { listUserTurns, type UserTurn } from '#server/engine/records/workflow-users.store.ts';
import {
  listUnknownMargins,
  listWorkflowCalculations,
  type PositionGeneratorLogRow,
} from '#server/engine/sizing/position-generator.store.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import type { Db, Queryable } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import { positionCloses } from '#server/platform/db/schema.ts';
import { LEASE_SECONDS, type Lease } from '#server/platform/jobs/leases.ts';
import { type AccountReading, listUsableReadings } from './account-readings.store.ts';

/** The first order must not wait for others; the rest share statements. */
const WAVE_SIZES = { first: 1, second: 8, next: 64 };

/** Serialises what is sized by one balance: workflows, and orders by hand. */
export const userKey = (userId: string) => `user:${userId}`;

interface Claim {
  leases: { userId: string; lease: Lease }[];
  /** Whether further users wait: for a later wave, an order of theirs, or another workflow that has their lease. */
  hasMore: boolean;
  /** Whether the room at an exchange kept users of this wave for others. */
  isCut: boolean;
}

/**
 * Keeps a subquery from being joined: before the tables are analyzed, every user of the workflow was compared with each
 * of its trades.
 */
const EACH_ALONE = sql`offset 0`;

const isNotEntering = ({ token, since }: { token: string; since: Date }) => sql`not exists (
  select from trades where trades.user_id = part.user_id and trades.token = ${token}
    and trades.state = 'working' and trades.created_at > ${since} ${EACH_ALONE})`;

/**
 * Takes the leases of the next users of a workflow who have no order yet, in the order of trading: 1, then 8, then up to
 * 64, so that instances can share a signal. Leaves out users whose lease another worker has. `userId`: only this user;
 * `upTo`: only users up to this place in the order of trading. `rooms`: takes no more users of an exchange; one that is
 * not listed has room for all. Users of an exchange without room keep nobody behind them waiting. `leaving`: leaves out
 * users with an order at work in the token that was planned since then, because it may still open something.
 */
export async function claimWave(
  db: Queryable,
  options: {
    workflowId: string;
    userId?: string | undefined;
    upTo: number | null;
    holder: string;
    rooms: ReadonlyMap<string, number>;
    leaving?: { token: string; since: Date } | undefined;
  },
): Promise<Claim> {
  const { workflowId, userId, upTo, holder, leaving } = options;
  const rooms = JSON.stringify(Object.fromEntries(options.rooms));
  const { first, second, next } = WAVE_SIZES;
  const isOpen = sql`part.workflow_id = ${workflowId} and part.position is not null
    and part.outcome in ('waiting', 'running') and ${userId === undefined ? sql`true` : sql`part.user_id = ${userId}`}
    and ${upTo === null ? sql`true` : sql`part.position <= ${upTo}`}
    and not exists (
      select from trades where trades.workflow_id = part.workflow_id and trades.user_id = part.user_id ${EACH_ALONE})`;
  const isFree = sql`not exists (
    select from leases where leases.key = 'user:' || part.user_id and leases.lease_until >= database_time()
    ${EACH_ALONE})
    and ${leaving === undefined ? sql`true` : isNotEntering(leaving)}`;
  const roomOf = sql`(${rooms}::jsonb ->> settings.exchange_platform)::int`;
  const mostTaken = mostOf(options.rooms);
  const isSomeFull = [...options.rooms.values()].some((room) => room <= 0);
  const { rows } = await db.execute<{
    userId: string | null;
    version: string;
    hasMore: boolean;
    isCut: boolean;
  }>(sql`
    with free as (
      select part.user_id, part.position, ${roomOf} as room, settings.exchange_platform as exchange
      from workflow_users as part left join user_settings as settings on settings.user_id = part.user_id
      where ${isOpen} and ${isFree} and coalesce(${roomOf} > 0, true)
      order by part.position limit ${mostTaken} for update of part skip locked
    ), ranked as (
      select user_id, room, row_number() over (order by position) as place, min(position) over () as earliest,
        row_number() over (partition by exchange order by position) as place_at_exchange
      from free
    ), wave as (
      select user_id, coalesce(place_at_exchange <= room, true) as fits from ranked
      where place <= case
        when earliest = 0 then ${first}::int when earliest <= ${second}::int then ${second}::int else ${next}::int end
    ), taken as (
      insert into leases (key, holder, lease_until)
      select 'user:' || user_id, ${holder}, database_time() + make_interval(secs => ${LEASE_SECONDS}) from wave
      where fits
      order by 1
      on conflict (key) do update
        set holder = excluded.holder, version = default, lease_until = excluded.lease_until
        where leases.lease_until < database_time()
      returning substr(key, length('user:') + 1) as user_id, version
    ), more as (
      select exists (
        select from workflow_users as part
        where ${isOpen} and part.user_id::text not in (select user_id from taken)) as has_more
    ), kept as (
      select exists (select from wave where not fits) or (${isSomeFull} and exists (
        select from workflow_users as part join user_settings as settings on settings.user_id = part.user_id
        where ${isOpen} and ${isFree} and ${roomOf} <= 0)) as is_cut
    )
    select taken.user_id as "userId", taken.version, more.has_more as "hasMore",
      kept.is_cut as "isCut"
    from more cross join kept left join taken on true`);
  const leases = rows.flatMap(({ userId: id, version }) =>
    id === null ? [] : [{ userId: id, lease: { key: userKey(id), holder, version: Number(version) } }],
  );
  return { leases, hasMore: rows[0]?.hasMore === true, isCut: rows[0]?.isCut === true };
}

/**
 * How many users to look at: no more than can be taken, and one beyond them, who tells that some were left. Others are
 * neither read nor locked, so that another instance takes them in their order.
 */
function mostOf(rooms: ReadonlyMap<string, number>): number {
  if (EXCHANGE_PLATFORMS.some((platform) => !rooms.has(platform))) return WAVE_SIZES.next;
  const room = [...rooms.values()].reduce((sum, one) => sum + Math.max(0, one), 0);
  return room === 0 ? 0 : Math.min(WAVE_SIZES.next, room + 1);
}

/** What is known of a user at the beginning of the wave, read under the user's lease. */
export interface UserFacts extends TokenFacts {
  turn: UserTurn;
  settings: TradingSettings | null;
  /** The calculation that an interrupted run recorded. */
  calculation: PositionGeneratorLogRow | null;
  /** A live, filled or doubtful order of the user for the signal. */
  standing: TradeRow | null;
  /** The stop of new entries that covers the user's order. */
  tradingStop: TradingStop | null;
  /** Why a newer signal that closes ends the user's entry. */
  closedSince: Denial | null;
  /** Of the user's accounts, made before the signal and still usable. */
  readings: readonly AccountReading[];
  /** Margin of the user's intents that an exchange may not know yet, by exchange. */
  unknownMargins: ReadonlyMap<string, string>;
}

/** The facts of a user and a token. */
export interface TokenFacts {
  /** Trades that are not done, or whose position may be open. */
  liveTrades: readonly LiveTrade[];
  /** The exchanges with a closing order, by any sender, whose outcome is unknown. */
  closingAt: readonly string[];
  /** How far this workflow's own close for the user has come; null: it closed nothing. */
  reversal: Reversal | null;
}

/** Everything about all users of a wave, in one round trip; in the order of trading. */
export async function readFacts(
  db: Db,
  options: {
    workflowId: string;
    userIds: readonly string[];
    signal: SignalRow;
    /** Null: accounts are not read ahead. */
    readSince: Date | null;
    now: Date;
    timeZone: string;
    exitScope: ExitScope;
  },
): Promise<UserFacts[]> {
  const { workflowId, userIds, signal, readSince, now, timeZone, exitScope } = options;
  const { token } = signal;
  const [turns, settings, calculations, standing, live, closes, margins, stops, newer, readings] =
    await Promise.all([
      listUserTurns(db, { workflowId, userIds }),
      listTradingSettings(db, userIds),
      listWorkflowCalculations(db, { workflowId, userIds }),
      listStandingTrades(
        db,
        userIds.map((userId) => ({ signalId: signal.id, userId })),
      ),
      listLiveTrades(db, { userIds, token }),
      listCloses(db, { userIds, token, workflowId }),
      listUnknownMargins(db, userIds),
      listStops(db, { now, timeZone }),
      listNewerCloses(db, [workflowId]),
      readSince === null ? [] : listUsableReadings(db, { userIds, token, since: readSince }),
    ]);
  return turns.map((turn) => {
    const { userId } = turn.user;
    const isOfUser = (row: { userId: string }) => row.userId === userId;
    return {
      turn,
      settings: settings.get(userId) ?? null,
      calculation: calculations.find(isOfUser) ?? null,
      standing: standing.find(isOfUser) ?? null,
      liveTrades: live.filter(isOfUser),
      tradingStop: findStop(stops, { userId, token, processor: signal.processor }),
      closedSince: denyClosedSince(newer, { workflowId, userId, scope: exitScope }),
      readings: readings.filter(isOfUser),
      ...knownCloses(closes.filter(isOfUser), workflowId),
      unknownMargins: new Map(
        margins.filter(isOfUser).map(({ exchangePlatform, margin }) => [exchangePlatform, margin]),
      ),
    };
  });
}

const UNSETTLED = ['submitting', 'sent'] as const;

const listCloses = (
  db: Db,
  { userIds, token, workflowId }: { userIds: readonly string[]; token: string; workflowId: string },
) =>
  db
    .select({
      userId: positionCloses.userId,
      workflowId: positionCloses.workflowId,
      exchangePlatform: positionCloses.exchangePlatform,
      state: positionCloses.state,
      error: positionCloses.error,
    })
    .from(positionCloses)
    .where(
      and(
        isOneOf(positionCloses.userId, userIds),
        eq(positionCloses.token, token),
        or(inArray(positionCloses.state, [...UNSETTLED]), eq(positionCloses.workflowId, workflowId)),
      ),
    );

function knownCloses(
  closes: Awaited<ReturnType<typeof listCloses>>,
  workflowId: string,
): Pick<TokenFacts, 'closingAt' | 'reversal'> {
  const isUnsettled = ({ state }: (typeof closes)[number]) => state === 'submitting' || state === 'sent';
  const own = closes.filter((row) => row.workflowId === workflowId && row.state !== 'refused');
  // An order that closed only a part has an error.
  const isClosed = !own.some(isUnsettled) && own.some(({ error }) => error === null);
  return {
    closingAt: closes.filter(isUnsettled).map(({ exchangePlatform }) => exchangePlatform),
    reversal: own.length === 0 ? null : isClosed ? 'closed' : 'begun',
  };
}
