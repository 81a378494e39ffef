import { count, eq, ne } from 'drizzle-orm';
import type { PositionMakerStatus } from '#contract/position-maker.ts';
import type { Db } from '#server/platform/database/database.ts';
import { trades } from '#server/platform/database/schema.ts';
import { listWorkers } from './workers.store.ts';

/** The position maker of all instances on the database together. */
export async function readSystemStatus(db: Db): Promise<PositionMakerStatus> {
  const [workers, [processing], [completed]] = await Promise.all([
    listWorkers(db),
    db.select({ tasks: count() }).from(trades).where(ne(trades.state, 'done')),
    db.select({ tasks: count() }).from(trades).where(eq(trades.state, 'done')),
  ]);
  const activeWorkers = workers.filter(({ isActive }) => isActive).length;
  return {
    isRunning: activeWorkers > 0,
    threadManager: {
      activeWorkers,
      totalWorkers: workers.length,
      processingTasks: processing?.tasks ?? 0,
      completedTasks: completed?.tasks ?? 0,
    },
    workers: workers.map(({ lastActivity, ...worker }) => ({
      ...worker,
      lastActivity: lastActivity?.toISOString() ?? null,
    })),
  };
}
