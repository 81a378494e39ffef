import { type SQL, sql } from 'drizzle-orm';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { AccountKey } from '#server/engine/protection/positions.store.ts';
import type { Db } from '#server/platform/db/database.ts';

/** Selects recorded equity by user and trading mode, up to `now`. */
export interface Recorded {
  /** Undefined: everybody's. */
  userId: string | undefined;
  mode: ExchangeMode;
  now: Date;
}

export interface EquityPoint {
  [column: string]: unknown;
  at: string;
  equity: string;
  /** Gained so far; what an account had when it came is no gain. */
  gain: string;
  accounts: number;
  /** Of them, those that were read then. */
  read: number;
}

/** An older equity is not the present one. */
const EQUITY_LASTS = sql`interval '3 hours'`;

/** Such a time after its beginning, the next hour, day or week of the zone has begun, also where the clocks change. */
const LENGTHS = {
  hour: sql`interval '1 hour'`,
  day: sql`interval '26 hours'`,
  week: sql`interval '170 hours'`,
};

const instant = (at: Date): SQL => sql`${at.toISOString()}::timestamptz`;
const ofAccount = (mode: ExchangeMode): SQL =>
  sql`snapshot.user_id = accounts.user_id and snapshot.exchange_platform = accounts.exchange_platform
    and snapshot.exchange_mode = ${mode}`;
/** Every account that was ever read has a row there. */
const accountsOf = (userId: string | undefined): SQL =>
  sql`select * from account_figures where ${userId === undefined ? sql`true` : sql`user_id = ${userId}`}`;

/** When the first of these accounts was first read; null when none was. */
export async function firstRecorded(db: Db, { userId, mode }: Recorded): Promise<Date | null> {
  const { rows } = await db.execute<{ first: string | null }>(sql`
    select min(found.at) as first from (${accountsOf(userId)}) as accounts
    cross join lateral (
      select at from equity_snapshots as snapshot where ${ofAccount(mode)} and taken_for <> 'trade' order by at limit 1) as found`);
  const first = rows[0]?.first ?? null;
  return first === null ? null : new Date(first);
}

/** The sum of the accounts at each hour, day or week that has a record, and now where the range is open. */
export async function sumEquity(
  db: Db,
  recorded: Recorded,
  options: {
    from: Date;
    to: Date | null;
    unit: 'hour' | 'day' | 'week';
    timeZone: string;
    /** The accounts there are now. Others leave the sum after their last record. */
    accounts: readonly AccountKey[];
  },
): Promise<EquityPoint[]> {
  const { userId, mode, now } = recorded;
  const { from, to, unit, timeZone } = options;
  const zone = unit === 'hour' ? 'UTC' : timeZone;
  const start = sql`date_trunc(${unit}, ${instant(from)}, ${zone})`;
  const length = LENGTHS[unit];
  // Worded like the conditions of the indexes.
  const isTaken = unit === 'hour' ? sql`taken_for <> 'trade'` : sql`taken_for = 'day'`;
  const present = options.accounts.map((account) => [account.userId, account.exchangePlatform]);
  const { rows } = await db.execute<EquityPoint>(sql`
    -- Materialized: otherwise is_present was computed for every record, which took most of the time.
    with accounts as materialized (
      select user_id, exchange_platform, exchange_mode, equity, equity_at,
        ${JSON.stringify(present)}::jsonb @> jsonb_build_array(jsonb_build_array(user_id, exchange_platform)) as is_present
      from (${accountsOf(userId)}) as known),
    recorded as (
      select accounts.user_id, accounts.exchange_platform, is_present, found.*
      from accounts cross join lateral (
        (select ${start} - interval '1 microsecond' as point, snapshot.equity
          from equity_snapshots as snapshot
          where ${ofAccount(mode)} and ${isTaken} and at < ${instant(from)}
            and (is_present or at >= ${instant(from)} - ${length})
          order by at desc limit 1)
        union all
        (select distinct on (1) date_trunc(${unit}, at, ${zone}), snapshot.equity
          from equity_snapshots as snapshot
          where ${ofAccount(mode)} and ${isTaken} and at >= ${instant(from)} and at < ${instant(to ?? now)}
          order by 1, at)
        union all
        select ${instant(now)}, accounts.equity
        where ${to === null} and is_present and accounts.exchange_mode = ${mode}
          and accounts.equity_at > ${instant(now)} - ${EQUITY_LASTS}
      ) as found),
    compared as (
      select point, is_present, equity, lag(equity) over account as before, lead(point) over account as next
      from recorded window account as (partition by user_id, exchange_platform order by point)),
    steps as (
      select point, equity - coalesce(before, 0) as step, coalesce(equity - before, 0) as gain,
        (before is null)::int as joined, 1 as read
      from compared
      union all
      select date_trunc(${unit}, point + ${length}, ${zone}), -equity, 0, -1, 0 from compared where next is null and not is_present),
    points as (
      select point, sum(step) as step, sum(gain) as gain, sum(joined) as joined, sum(read)::int as read
      from steps group by point),
    running as (
      select point, read, sum(step) over so_far as equity, sum(gain) over so_far as gain, sum(joined) over so_far as accounts
      from points window so_far as (order by point))
    select point as at, equity::text, gain::text, accounts::int, read
    from running
    where point >= ${start} and point <= ${instant(to ?? now)} and accounts > 0
    order by point`);
  return rows.map((row) => ({ ...row, at: new Date(row.at).toISOString() }));
}

/** The last equity of each account in every so many hours. */
export async function listEquityTrends(
  db: Db,
  { userId, mode }: Recorded,
  { since, stepHours }: { since: Date; stepHours: number },
): Promise<(AccountKey & { at: string; equity: string })[]> {
  const { rows } = await db.execute<
    AccountKey & { [column: string]: unknown; at: string; equity: string }
  >(sql`
    select accounts.user_id as "userId", accounts.exchange_platform as "exchangePlatform", found.at, found.equity
    from (${accountsOf(userId)}) as accounts
    cross join lateral (
      select distinct on (1) date_bin(make_interval(hours => ${stepHours}), at, ${instant(since)}), at, snapshot.equity::text
      from equity_snapshots as snapshot
      where ${ofAccount(mode)} and taken_for <> 'trade' and at >= ${instant(since)}
      order by 1, at desc) as found
    order by 1, 2, 3`);
  return rows.map((row) => ({ ...row, at: new Date(row.at).toISOString() }));
}
