import { sql } from 'drizzle-orm';
import type { Db } from '#server/platform/db/database.ts';
import type { JobWorkerReport } from '#server/platform/jobs/jobs.ts';

/** Silence after which a worker counts as dead. */
export const STALE_AFTER_SECONDS = 10;
const FORGOTTEN_AFTER_SECONDS = 300;

export interface WorkerRow {
  instanceId: string;
  workerId: string;
  isActive: boolean;
  currentTasks: number;
  maxConcurrent: number;
  processedTasks: number;
  lastActivity: Date | null;
}

/** All times are the database's, so clock differences between machines do not matter. */
export async function reportWorkers(
  db: Db,
  report: { instanceId: string; isRunning: boolean; workers: JobWorkerReport[] },
): Promise<void> {
  const { instanceId, isRunning } = report;
  const rows = report.workers.map(
    ({ name, activeJobs, maxConcurrent, completedJobs, lastActivityAt }) =>
      sql`(${instanceId}, ${name}, ${isRunning}, ${activeJobs}::integer, ${maxConcurrent}::integer,
        ${completedJobs}::bigint, ${lastActivityAt?.toISOString() ?? null}::timestamptz, database_time(), database_time())`,
  );
  await db.execute(sql`
    insert into engine_workers (instance_id, worker_id, is_active, current_tasks, max_concurrent, processed_tasks,
      last_activity, started_at, heartbeat_at)
    values ${sql.join(rows, sql`, `)}
    on conflict (instance_id, worker_id) do update
      set is_active = excluded.is_active, current_tasks = excluded.current_tasks,
        max_concurrent = excluded.max_concurrent, processed_tasks = excluded.processed_tasks,
        last_activity = excluded.last_activity, heartbeat_at = excluded.heartbeat_at`);
}

export async function removeWorkers(db: Db, instanceId: string | 'all'): Promise<void> {
  await db.execute(
    instanceId === 'all'
      ? sql`delete from engine_workers`
      : sql`delete from engine_workers where instance_id = ${instanceId}`,
  );
}

export async function forgetDeadWorkers(db: Db): Promise<void> {
  await db.execute(
    sql`delete from engine_workers where heartbeat_at < database_time() - make_interval(secs => ${FORGOTTEN_AFTER_SECONDS})`,
  );
}

/** Workers of every instance; a silent one is inactive and works on nothing. */
export async function listWorkers(db: Db): Promise<WorkerRow[]> {
  const { rows } = await db.execute<{
    instance_id: string;
    worker_id: string;
    is_active: boolean;
    current_tasks: number;
    max_concurrent: number;
    processed_tasks: string;
    last_activity: Date | string | null;
  }>(sql`
    select instance_id, worker_id, is_active and is_fresh as is_active,
      case when is_fresh then current_tasks else 0 end as current_tasks,
      max_concurrent, processed_tasks, last_activity
    from (select *, heartbeat_at > database_time() - make_interval(secs => ${STALE_AFTER_SECONDS}) as is_fresh
      from engine_workers) as workers
    order by is_fresh desc, instance_id, worker_id`);
  return rows.map((row) => ({
    instanceId: row.instance_id,
    workerId: row.worker_id,
    isActive: row.is_active,
    currentTasks: row.current_tasks,
    maxConcurrent: row.max_concurrent,
    processedTasks: Number(row.processed_tasks),
    lastActivity: row.last_activity === null ? null : new Date(row.last_activity),
  }));
}
