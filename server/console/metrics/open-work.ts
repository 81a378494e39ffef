import { sql } from 'drizzle-orm';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { Db } from '#server/platform/db/database.ts';
import type { JobName } from '#server/platform/jobs/jobs.ts';

/** Gauges by name; `readOpenWork` reads each as a column of that name. */
export const OPEN_FIGURES = {
  workflows_unfinished: 'Workflows that have not ended',
  workflow_oldest_seconds: 'Age of the oldest workflow that has not ended',
  orders_unfinished: 'Orders that have not come to their end',
  orders_unknown: 'Orders that the exchange may or may not have',
  positions_open: 'Positions opened here that are not known to be closed',
  positions_unprotected: 'Positions opened here without a verified stop loss',
  users_halted: 'Users whose trading is halted',
  instances: 'Instances on this database that are alive',
};
export type OpenFigure = keyof typeof OPEN_FIGURES;

/** The current state across all instances; every query uses an index. */
export interface OpenWork {
  queues: { queue: JobName; waiting: number; oldestSeconds: number }[];
  figures: Record<OpenFigure, number>;
}

const QUEUES: readonly JobName[] = ['run-workflow', 'trade-user', 'advance-trade'];
/** Instances send a heartbeat every second. */
const LIVING_SECONDS = 10;

/** Paper and demo positions count only in their own mode (docs/decisions/0006). */
export async function readOpenWork(db: Db, mode: ExchangeMode): Promise<OpenWork> {
  const ofMode = sql`(exchange_mode is null or exchange_mode in ('live', ${mode}))`;
  const { rows } = await db.execute<{ queue: string; waiting: string; oldest: string | null }>(sql`
    select name as queue, count(*) as waiting, extract(epoch from now() - min(start_after)) as oldest
    from jobs.job
    where name = any(${sql.param([...QUEUES])}::text[]) and state < 'active' and start_after <= now()
    group by name`);
  const figures = await db.execute<Record<OpenFigure, string | null>>(sql`
    select
      (select count(*) from workflows where status in ('pending', 'processing')) as workflows_unfinished,
      (select extract(epoch from now() - min(created_at)) from workflows
        where status in ('pending', 'processing')) as workflow_oldest_seconds,
      (select count(*) from trades where state <> 'done') as orders_unfinished,
      (select count(*) from trades join order_attempts on trade_id = trades.id
        where trades.state <> 'done'
          and (order_attempts.state = 'unknown' or order_attempts.doubt is not null)) as orders_unknown,
      (select count(*) from trades where position_closed_at is null
        and (state <> 'done' or fill_status in ('filled', 'partial'))
        and fill_status in ('filled', 'partial') and ${ofMode}) as positions_open,
      (select count(*) from trades where position_closed_at is null
        and (state <> 'done' or fill_status in ('filled', 'partial'))
        and (state = 'closing' or unprotected_since is not null or protection_status = 'missing')
        and ${ofMode}) as positions_unprotected,
      (select count(distinct user_id) from trading_halts where ended_at is null) as users_halted,
      (select count(distinct instance_id) from engine_workers
        where heartbeat_at > database_time() - make_interval(secs => ${LIVING_SECONDS})) as instances`);
  const counted = Object.entries(figures.rows[0] ?? {}).map(([name, value]) => [name, Number(value ?? 0)]);
  return {
    queues: QUEUES.map((queue) => {
      const row = rows.find((one) => one.queue === queue);
      return { queue, waiting: Number(row?.waiting ?? 0), oldestSeconds: Number(row?.oldest ?? 0) };
    }),
    figures: Object.fromEntries(counted),
  };
}
