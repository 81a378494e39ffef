import { sql } from 'drizzle-orm';
import type { OverviewAnswer } from '#contract/overview.ts';
import { D, toPlain } from '#domain/decimal.ts';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { OutcomeKind } from '#domain/workflow/outcome-kinds.ts';
import type { Db } from '#server/platform/db/database.ts';
import { STORED_OUTCOMES } from '#server/platform/db/list-totals/count-outcomes.ts';

interface UserResults {
  [field: string]: unknown;
  userId: string;
  netToday: string;
  grossToday: string;
  tradesToday: number;
  unknownToday: number;
  net: string;
  gross: string;
  trades: number;
  unknown: number;
  won: number;
}

/** Results of closed positions, added up by user in one statement. */
export async function sumResults(
  db: Db,
  { since, today, userId }: { since: Date; today: Date; userId: string | undefined },
) {
  const { rows } = await db.execute<UserResults>(sql`
    select user_id as "userId",
      coalesce(sum(net) filter (where is_today), 0)::text as "netToday",
      coalesce(sum(realised_profit) filter (where is_today), 0)::text as "grossToday",
      count(*) filter (where is_today)::int as "tradesToday",
      count(*) filter (where is_today and net is null)::int as "unknownToday",
      coalesce(sum(net), 0)::text as net, coalesce(sum(realised_profit), 0)::text as gross,
      count(*)::int as trades, count(*) filter (where net is null)::int as unknown,
      count(*) filter (where net > 0)::int as won
    from (
      select user_id, realised_profit, realised_profit - coalesce(fees, 0) as net,
        closed_at >= ${today} as is_today
      from closed_positions
      where closed_at >= ${since} and ${userId === undefined ? sql`true` : sql`user_id = ${userId}`}
    ) as closed group by user_id`);
  const total = (of: (row: UserResults) => string) =>
    toPlain(rows.reduce((all, row) => all.plus(of(row)), D(0)));
  const count = (of: (row: UserResults) => number) => rows.reduce((all, row) => all + of(row), 0);
  return {
    today: {
      amount: total((row) => row.netToday),
      gross: total((row) => row.grossToday),
      trades: count((row) => row.tradesToday),
      unknown: count((row) => row.unknownToday),
    },
    week: {
      amount: total((row) => row.net),
      gross: total((row) => row.gross),
      trades: count((row) => row.trades),
      unknown: count((row) => row.unknown),
    },
    wins: { won: count((row) => row.won), trades: count((row) => row.trades - row.unknown) },
    ofUser: new Map(rows.map((row) => [row.userId, row.net])),
  };
}

export async function countFills(
  db: Db,
  { since, userId }: { since: Date; userId: string | undefined },
): Promise<OverviewAnswer['fills']> {
  const { rows } = await db.execute<{ filled: number; orders: number }>(sql`
    select count(*)::int as orders,
      count(*) filter (where fill_status in ('filled', 'partial'))::int as filled
    from trades
    where created_at >= ${since} and state = 'done'
      and ${userId === undefined ? sql`true` : sql`user_id = ${userId}`}`);
  return rows[0] ?? { filled: 0, orders: 0 };
}

/** Signals received since then by their outcome; those without one still run. */
export async function countOutcomes(
  db: Db,
  { since }: { since: Date },
): Promise<Record<OutcomeKind, number>> {
  const [settled, running] = await Promise.all([
    // One look into the index per outcome.
    db.execute<{ outcome: OutcomeKind; signals: number }>(sql`
      select kind as outcome, (
        select count(*)::int from signal_outcomes where outcome = kind and received_at >= ${since}) as signals
      from unnest(${sql.param([...STORED_OUTCOMES])}::text[]) as kind`),
    db.execute<{ signals: number }>(sql`
      select count(distinct signal_id)::int as signals from workflows
      where status in ('pending', 'processing') and created_at >= ${since}`),
  ]);
  const counts = { filled: 0, partial: 0, not_filled: 0, skipped: 0, aborted: 0, failed: 0, running: 0 };
  for (const { outcome, signals } of settled.rows) counts[outcome] = signals;
  return { ...counts, running: running.rows[0]?.signals ?? 0 };
}

/** By user id, of the account the user trades at: the equity last recorded, unless that is too long ago. */
export async function listKnownEquities(
  db: Db,
  { now, mode }: { now: Date; mode: ExchangeMode },
): Promise<Map<string, { equity: string; equityAt: Date }>> {
  const { rows } = await db.execute<{ userId: string; equity: string; equityAt: string }>(sql`
    select account.user_id as "userId", account.equity::text, account.equity_at as "equityAt"
    from account_figures as account
    join user_settings as settings
      on settings.user_id = account.user_id and settings.exchange_platform = account.exchange_platform
    where account.exchange_mode = ${mode} and account.equity is not null
      and account.equity_at > ${now}::timestamptz - interval '3 hours'`);
  return new Map(
    rows.map(({ userId, equity, equityAt }) => [userId, { equity, equityAt: new Date(equityAt) }]),
  );
}
