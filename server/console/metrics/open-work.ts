import { sql } from 'drizzle-orm';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { Db } from '#server/platform/db/database.ts';
import type { JobName } from '#server/platform/jobs/jobs.ts';

/** The current state across all instances; every query uses an index. */
export interface OpenWork {
  queues: { queue: JobName; waiting: number; oldestSeconds: number }[];
  unfinishedWorkflows: number;
  oldestWorkflowSeconds: number;
  unfinishedOrders: number;
  unknownOrders: number;
  openPositions: number;
  unprotectedPositions: number;
  haltedUsers: number;
  instances: number;
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
    where name in (${sql.join(
      QUEUES.map((name) => sql`${name}`),
      sql`, `,
    )}) and state < 'active' and start_after <= now()
    group by name`);
  const figures = await db.execute<Record<string, string | null>>(sql`
    select
      (select count(*) from workflows where status in ('pending', 'processing')) as workflows,
      (select extract(epoch from now() - min(created_at)) from workflows
        where status in ('pending', 'processing')) as oldest_workflow,
      (select count(*) from trades where state <> 'done') as orders,
      (select count(*) from trades join order_attempts on trade_id = trades.id
        where trades.state <> 'done'
          and (order_attempts.state = 'unknown' or order_attempts.doubt is not null)) as unknown_orders,
      (select count(*) from trades where position_closed_at is null
        and (state <> 'done' or fill_status in ('filled', 'partial'))
        and fill_status in ('filled', 'partial') and ${ofMode}) as positions,
      (select count(*) from trades where position_closed_at is null
        and (state <> 'done' or fill_status in ('filled', 'partial'))
        and (state = 'closing' or unprotected_since is not null or protection_status = 'missing')
        and ${ofMode}) as unprotected,
      (select count(distinct user_id) from trading_halts where ended_at is null) as halted_users,
      (select count(distinct instance_id) from engine_workers
        where heartbeat_at > now() - make_interval(secs => ${LIVING_SECONDS})) as instances`);
  const figure = (name: string) => Number(figures.rows[0]?.[name] ?? 0);
  return {
    queues: QUEUES.map((queue) => {
      const row = rows.find((one) => one.queue === queue);
      return { queue, waiting: Number(row?.waiting ?? 0), oldestSeconds: Number(row?.oldest ?? 0) };
    }),
    unfinishedWorkflows: figure('workflows'),
    oldestWorkflowSeconds: figure('oldest_workflow'),
    unfinishedOrders: figure('orders'),
    unknownOrders: figure('unknown_orders'),
    openPositions: figure('positions'),
    unprotectedPositions: figure('unprotected'),
    haltedUsers: figure('halted_users'),
    instances: figure('instances'),
  };
}
