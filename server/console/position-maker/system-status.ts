import { sql } from 'drizzle-orm';
import type { PositionMakerStatus } from '#contract/position-maker.ts';
import { listWorkers } from '#server/engine/orders/workers.store.ts';
import type { Db } from '#server/platform/db/database.ts';

/** The position maker of all instances on the database together. */
export async function readSystemStatus(db: Db): Promise<PositionMakerStatus> {
  const [workers, tasks] = await Promise.all([listWorkers(db), countTasks(db)]);
  const activeWorkers = workers.filter(({ isActive }) => isActive).length;
  return {
    isRunning: activeWorkers > 0,
    threadManager: {
      activeWorkers,
      totalWorkers: workers.length,
      processingTasks: tasks.processing,
      completedTasks: tasks.completed,
    },
    workers: workers.map(({ lastActivity, ...worker }) => ({
      ...worker,
      lastActivity: lastActivity?.toISOString() ?? null,
    })),
  };
}

/** All are counted in an index, and so are the unfinished ones; which are done only the long rows themselves say. */
async function countTasks(db: Db): Promise<{ processing: number; completed: number }> {
  const { rows } = await db.execute<{ total: number; processing: number }>(sql`
    select (select count(*) from trades)::int as total,
      (select count(*) from trades where state <> 'done')::int as processing`);
  const { total = 0, processing = 0 } = rows[0] ?? {};
  return { processing, completed: total - processing };
}
