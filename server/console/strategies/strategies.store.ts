import { sql } from 'drizzle-orm';
import { D, toPlain } from '#domain/decimal.ts';
import type { CanarySettings } from '#domain/workflow/canary.ts';
import type { Db } from '#server/platform/db/database.ts';

export interface StrategyRow {
  [column: string]: unknown;
  strategy: string;
  processor: string;
  lastToken: string | null;
  lastAction: string | null;
  lastAt: Date | string | null;
  signals7d: number;
  orders7d: number;
  filled7d: number;
  net7d: string;
  unknown7d: number;
  closed7d: number;
  won7d: number;
  /** After fees, by the number of six hours since seven days ago; null without a closed position. */
  steps: Record<string, string> | null;
  subscribers: { username: string; trades: boolean }[] | null;
  maxSignalAgeSeconds: number | null;
  canary: CanarySettings | null;
  rotation: boolean;
  /** A stop of new entries covers the strategy, or everybody. */
  stopped: boolean;
}

const TREND_STEP_SECONDS = 6 * 3_600;
const TREND_STEPS = (7 * 86_400) / TREND_STEP_SECONDS;

/** The running sum of the net at each step of the last seven days. */
export function trendOf(steps: StrategyRow['steps'], now: Date): { at: string; net: string }[] {
  let net = D(0);
  return Array.from({ length: TREND_STEPS + 1 }, (_, step) => {
    net = net.plus(steps?.[step - 1] ?? '0');
    const agoMs = (TREND_STEPS - step) * TREND_STEP_SECONDS * 1_000;
    return { at: new Date(now.getTime() - agoMs).toISOString(), net: toPlain(net) };
  });
}

/** Those that sent a signal in the last thirty days, that a user follows, or that have settings or limits; by name. */
export async function listStrategies(db: Db, now: Date): Promise<StrategyRow[]> {
  const since = (days: number) => sql`${now}::timestamptz - make_interval(days => ${days}::int)`;
  const key = sql`lower(btrim(signals.processor))`;
  const { rows } = await db.execute<StrategyRow>(sql`
    with sent as (
      select ${key} as strategy, min(processor) as processor, max(received_at) as last_at, max(id::text)::uuid as last_id,
        (count(*) filter (where received_at > ${since(7)}))::int as signals
      from signals where received_at > ${since(30)} group by 1
    ), followed as (
      select lower(btrim(signal_processor)) as strategy, min(signal_processor) as processor
      from user_settings join users on users.id = user_id and users.is_active
      where lower(btrim(signal_processor)) <> 'any' group by 1
    ), named as (
      select strategy, processor from sent union all select strategy, processor from followed
      union all select scope_value, scope_value from risk_limits where scope_kind = 'strategy'
      union all select strategy, strategy from strategies
    ), known as (
      select strategy, min(processor) as processor from named group by 1
    ), closings as (
      select ${key} as strategy, closed.realised_profit - coalesce(closed.fees, 0) as net,
        floor(extract(epoch from closed.closed_at - (${since(7)})) / ${TREND_STEP_SECONDS})::int as step
      from closed_positions as closed join trades on trades.id = closed.trade_id
      join signals on signals.id = trades.signal_id
      where closed.closed_at > ${since(7)}
    )
    select known.strategy, known.processor, last.token as "lastToken", last.action as "lastAction",
      sent.last_at as "lastAt", coalesce(sent.signals, 0) as "signals7d",
      orders.orders as "orders7d", orders.filled as "filled7d", results.net as "net7d", results.unknown as "unknown7d",
      results.closed as "closed7d", results.won as "won7d", trends.steps,
      (select json_agg(json_build_object('username', username, 'trades', active_trading
          and (trading_paused_until is null or trading_paused_until <= ${now})) order by username)
        from users join user_settings on user_id = users.id
        where users.is_active and lower(btrim(signal_processor)) in (known.strategy, 'any')) as subscribers,
      strategies.max_signal_age_seconds as "maxSignalAgeSeconds", strategies.canary,
      coalesce(strategies.rotation, false) as rotation,
      exists (select from trading_stops where lifted_at is null and (until is null or until > ${now})
        and (scope_kind = 'all' or (scope_kind = 'strategy' and lower(btrim(scope_value)) = known.strategy))) as stopped
    from known
    left join sent on sent.strategy = known.strategy
    left join signals as last on last.id = sent.last_id
    left join strategies on strategies.strategy = known.strategy
    cross join lateral (
      select count(*)::int as orders, (count(*) filter (where fill_status in ('filled', 'partial')))::int as filled
      from trades join signals on signals.id = trades.signal_id
      where trades.created_at > ${since(7)} and ${key} = known.strategy) as orders
    cross join lateral (
      select coalesce(sum(net), 0)::text as net, (count(*) filter (where net is null))::int as unknown,
        count(net)::int as closed, (count(*) filter (where net > 0))::int as won
      from closings where closings.strategy = known.strategy) as results
    cross join lateral (
      select json_object_agg(step, net::text) as steps from (
        select step, sum(net) as net from closings
        where closings.strategy = known.strategy and net is not null group by step) as summed) as trends
    order by known.strategy`);
  return rows;
}
