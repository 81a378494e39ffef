import { sql } from 'drizzle-orm';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { RiskScope } from '#domain/limits/risk-limits.ts';
import type { Queryable } from '#server/platform/db/database.ts';

/* What the limits that stop entries are computed from. Money in USDT, profits after fees, as texts. */

interface OfStrategy {
  [column: string]: unknown;
  userId: string;
  strategy: string;
}

/** A position of ours that may be open now. */
export interface OpenProfit extends OfStrategy {
  token: string;
  /** Null when the last reading did not show it. */
  openProfit: string | null;
  /** Since when it is open, and when its account was last read. */
  since: Date;
  readAt: Date | null;
}

/** A position of ours that was open when the day began. */
export interface ProfitAtStart extends OfStrategy {
  token: string;
  /** Of the last reading before the day's start that showed it, and of the first one after it. */
  before: string | null;
  beforeAt: Date | null;
  first: string | null;
  firstAt: Date | null;
}

/** The positions that were closed on a day. */
export interface Realised extends OfStrategy {
  profit: string;
  /** Whose profit the exchange has not told. */
  unknown: number;
}

export interface EquityFigures {
  [column: string]: unknown;
  userId: string;
  follows: string;
  /** Now and at the day's start; null when it is not known. */
  equity: string | null;
  equityAtStart: string | null;
}

export interface ProfitFigures {
  open: OpenProfit[];
  atStart: ProfitAtStart[];
  realised: Realised[];
  equities: EquityFigures[];
}

const strategy = sql`lower(btrim(signals.processor))`;
const EQUITY_LASTS = sql`interval '3 hours'`;
/** A written-off position has ended by an administrator's word, and the profit is nobody's to tell. */
const isUntold = sql`closed.realised_profit is null and trades.written_off_at is distinct from trades.position_closed_at`;
const closings = sql`closed_positions as closed
  join trades on trades.id = closed.trade_id
  join signals on signals.id = trades.signal_id`;
const net = sql`(closed.realised_profit - coalesce(closed.fees, 0))`;

const inScope = ({ kind, value }: RiskScope) =>
  kind === 'program'
    ? sql`true`
    : kind === 'strategy'
      ? sql`${strategy} = ${value}`
      : sql`closed.user_id = ${value}`;

const instantOrNull = (value: Date | string | null) => (value === null ? null : new Date(value));

/** The figures of a day for all users. */
export async function readProfitFigures(
  db: Queryable,
  { now, dayStart, mode }: { now: Date; dayStart: Date; mode: ExchangeMode },
): Promise<ProfitFigures> {
  const open = db
    .execute<OpenProfit>(sql`
      select user_id as "userId", strategy, token, open_profit::text as "openProfit", since, positions_at as "readAt"
      from open_entries where filled_quantity > 0 or open_profit is not null`)
    .execute();
  const snapshotOf = (when: 'before' | 'first') => sql`
    left join lateral (
      select snapshot.at, shown."openProfit" as profit
      from equity_snapshots as snapshot, jsonb_to_recordset(snapshot.positions) as shown ("tradeId" uuid, "openProfit" text)
      where snapshot.user_id = trades.user_id and snapshot.exchange_platform = trades.exchange_platform
        and snapshot.exchange_mode = ${mode} and shown."tradeId" = trades.id
        and ${when === 'before' ? sql`snapshot.at < ${dayStart}` : sql`snapshot.at >= ${dayStart}`}
      order by snapshot.at ${when === 'before' ? sql`desc` : sql``} limit 1) as ${sql.identifier(when)} on true`;
  const atStart = db
    .execute<ProfitAtStart>(sql`
      select trades.user_id as "userId", ${strategy} as strategy, trades.token,
        before.profit as before, before.at as "beforeAt", first.profit as first, first.at as "firstAt"
      from trades join signals on signals.id = trades.signal_id
      ${snapshotOf('before')} ${snapshotOf('first')}
      where coalesce(trades.completed_at, trades.created_at) < ${dayStart} and trades.filled_quantity > 0
        and (trades.position_closed_at >= ${dayStart} or (trades.position_closed_at is null
          and (trades.state <> 'done' or trades.fill_status in ('filled', 'partial'))))
        and trades.protection_status is distinct from 'closed'`)
    .execute();
  const realised = db
    .execute<Realised>(sql`
      select closed.user_id as "userId", ${strategy} as strategy, coalesce(sum(${net}), 0)::text as profit,
        (count(*) filter (where ${isUntold}))::int as unknown
      from ${closings} where closed.closed_at >= ${dayStart} group by 1, 2`)
    .execute();
  const equities = db
    .execute<EquityFigures>(sql`
      select account.user_id as "userId", lower(btrim(user_settings.signal_processor)) as follows,
        case when bool_and(account.equity is not null and account.equity_at > ${now}::timestamptz - ${EQUITY_LASTS})
          then sum(account.equity)::text end as equity,
        case when bool_and(start.equity is not null) then sum(start.equity)::text end as "equityAtStart"
      from account_figures as account
      join users on users.id = account.user_id
      join user_settings on user_settings.user_id = account.user_id
      left join lateral (
        select snapshot.equity from equity_snapshots as snapshot
        where snapshot.user_id = account.user_id and snapshot.exchange_platform = account.exchange_platform
          and snapshot.exchange_mode = ${mode} and snapshot.at > ${dayStart}::timestamptz - ${EQUITY_LASTS}
        order by snapshot.at < ${dayStart}, abs(extract(epoch from snapshot.at - ${dayStart}::timestamptz)) limit 1
      ) as start on true
      where users.is_active and account.exchange_mode = ${mode}
      group by account.user_id, user_settings.signal_processor`)
    .execute();
  const [opens, starts, realisedOf, known] = await Promise.all([open, atStart, realised, equities]);
  return {
    open: opens.rows.map((row) => ({
      ...row,
      since: new Date(row.since),
      readAt: instantOrNull(row.readAt),
    })),
    atStart: starts.rows.map((row) => ({
      ...row,
      beforeAt: instantOrNull(row.beforeAt),
      firstAt: instantOrNull(row.firstAt),
    })),
    realised: realisedOf.rows,
    equities: known.rows,
  };
}

/** What was realised in a scope since an instant, and the users of whom some of it is not known. */
export async function readRealisedSince(
  db: Queryable,
  { scope, since }: { scope: RiskScope; since: Date },
): Promise<{ profit: string; unknownOf: string[] }> {
  const { rows } = await db.execute<{ profit: string; unknownOf: string[] | null }>(sql`
    select coalesce(sum(${net}), 0)::text as profit,
      array_agg(distinct closed.user_id::text) filter (where ${isUntold}) as "unknownOf"
    from ${closings} where closed.closed_at >= ${since} and ${inScope(scope)}`);
  return { profit: rows[0]?.profit ?? '0', unknownOf: rows[0]?.unknownOf ?? [] };
}

/** The last closed positions of a scope after an instant, newest first; those with an unknown profit are left out. */
export async function listLastProfits(
  db: Queryable,
  { scope, after, limit }: { scope: RiskScope; after: Date; limit: number },
): Promise<{ profit: string; closedAt: Date }[]> {
  const { rows } = await db.execute<{ profit: string; closedAt: Date | string }>(sql`
    select ${net}::text as profit, closed.closed_at as "closedAt"
    from ${closings}
    where closed.closed_at > ${after} and closed.realised_profit is not null and ${inScope(scope)}
    order by closed.closed_at desc, closed.id desc limit ${limit}`);
  return rows.map(({ profit, closedAt }) => ({ profit, closedAt: new Date(closedAt) }));
}
