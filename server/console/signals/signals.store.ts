import { count, desc, eq, inArray, lte, sql } from 'drizzle-orm';
import { timeframeFilter } from '#server/engine/sizing/spellings.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { countList } from '#server/platform/db/list-totals/count-list.ts';
import { readPage } from '#server/platform/db/list-totals/read-page.ts';
import { signals, trades, workflows } from '#server/platform/db/schema.ts';

export interface SignalFilter {
  token?: string | undefined;
  action?: 'buy' | 'sell' | undefined;
  processor?: string | undefined;
  timeframe?: string | undefined;
  until?: Date | undefined;
}

export interface SignalSummary {
  signal: SignalRow;
  workflowId: string | null;
  workflowStatus: string | null;
  workflowError: string | null;
  eligibleUsersCount: number;
  successfulUsersCount: number;
  totalTrades: number;
  successfulTrades: number;
  automaticCount: number;
  manualCount: number;
  stopLoss: string | null;
  takeProfit: string | null;
}

/** One page, newest first, and the total number of matching signals. */
export async function listSignals(
  db: Queryable,
  options: { filter: SignalFilter; page: number; limit: number; now: Date },
): Promise<{ rows: SignalSummary[]; total: number }> {
  const { page, limit, now } = options;
  const { until, ...values } = options.filter;
  const timeframe = await timeframeFilter(db, 'signals', values.timeframe);
  const filter = { ...values, timeframe };
  const total = await countList(db, 'signals', { filter, until, now });
  const rows = await readPage(db, {
    table: signals,
    where: [
      filter.token === undefined ? undefined : eq(signals.token, filter.token),
      filter.action === undefined ? undefined : eq(signals.action, filter.action),
      filter.processor === undefined ? undefined : eq(signals.processor, filter.processor),
      timeframe === undefined
        ? undefined
        : typeof timeframe === 'string'
          ? eq(signals.timeframe, timeframe)
          : inArray(signals.timeframe, timeframe),
      until === undefined ? undefined : lte(signals.receivedAt, until),
    ],
    order: [desc(signals.receivedAt), desc(signals.id)],
    page,
    limit,
  });
  return { rows: await summarise(db, rows), total };
}

/**
 * The fields of a signal's row in the list: status and user counts of its newest workflow, trade counts over all its
 * trades (including calculator orders), and the stop and target of the newest workflow's first user.
 */
export async function summarise(db: Queryable, rows: SignalRow[]): Promise<SignalSummary[]> {
  if (rows.length === 0) return [];
  const ids = sql`(${sql.join(
    rows.map(({ id }) => sql`${id}::uuid`),
    sql`, `,
  )})`;
  const runs = await db.execute<{
    signal_id: string;
    id: string;
    status: string;
    error_message: string | null;
    eligible_users_count: number;
    successful_users_count: number;
    stop_loss: string | null;
    take_profit: string | null;
  }>(sql`
    select newest.*, position.stop_loss, position.take_profit
    from (
      select distinct on (signal_id) signal_id, id, status, error_message, eligible_users_count, successful_users_count
      from ${workflows} where signal_id in ${ids} order by signal_id, id desc
    ) newest
    left join lateral (
      select logs.position ->> 'stopLoss' as stop_loss, logs.position ->> 'takeProfit' as take_profit
      from workflow_users users
      join position_generator_logs logs on logs.workflow_id = users.workflow_id and logs.user_id = users.user_id
      where users.workflow_id = newest.id and logs.success
      order by users.position limit 1
    ) position on true`);
  const triggers = await db
    .select({ signalId: workflows.signalId, trigger: workflows.trigger, count: count() })
    .from(workflows)
    .where(sql`${workflows.signalId} in ${ids}`)
    .groupBy(workflows.signalId, workflows.trigger);
  const orders = await db
    .select({
      signalId: trades.signalId,
      total: count(),
      successful: sql<number>`(count(*) filter (where ${trades.success}))::int`,
    })
    .from(trades)
    .where(sql`${trades.signalId} in ${ids}`)
    .groupBy(trades.signalId);
  const runOf = new Map(runs.rows.map((run) => [run.signal_id, run]));
  const triggersOf = new Map(triggers.map((one) => [`${one.signalId} ${one.trigger}`, one.count]));
  const ordersOf = new Map(orders.map((one) => [one.signalId, one]));
  return rows.map((signal) => {
    const run = runOf.get(signal.id);
    return {
      signal,
      workflowId: run?.id ?? null,
      workflowStatus: run?.status ?? null,
      workflowError: run?.error_message ?? null,
      eligibleUsersCount: run?.eligible_users_count ?? 0,
      successfulUsersCount: run?.successful_users_count ?? 0,
      totalTrades: ordersOf.get(signal.id)?.total ?? 0,
      successfulTrades: ordersOf.get(signal.id)?.successful ?? 0,
      automaticCount: triggersOf.get(`${signal.id} automatic`) ?? 0,
      manualCount: triggersOf.get(`${signal.id} manual`) ?? 0,
      stopLoss: run?.stop_loss ?? null,
      takeProfit: run?.take_profit ?? null,
    };
  });
}
