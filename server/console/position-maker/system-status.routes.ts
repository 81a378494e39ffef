import { sql } from 'drizzle-orm';
import {
  executionLogs,
  type PositionMakerStatus,
  positionMakerStatus,
  restartAnswer,
  restartBody,
} from '#contract/position-maker.ts';
import type { Deps } from '#server/deps.ts';
import { restartSystem } from '#server/engine/orders/restart.ts';
import { listWorkers } from '#server/engine/orders/workers.store.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import type { Db } from '#server/platform/db/database.ts';
import { getUser } from '#server/platform/http/access.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { isoDates } from '#server/platform/iso-dates.ts';
import { listExecutionLogs } from './execution-log.ts';
import { readHealth } from './health.ts';

export function registerSystemStatusRoutes(
  app: App,
  deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'log'>,
): void {
  const admin = routeOptions({ access: 'admin', tags: ['position maker'] });

  app.get('/api/position-maker/status', admin({ answer: positionMakerStatus }), () => readSystemStatus(deps));

  app.get('/api/position-maker/logs', admin({ answer: executionLogs }), () => listExecutionLogs(deps.db));

  app.post(
    '/api/position-maker/restart',
    admin({
      write: { stepUp: 'never', audit: ['position maker restarted'], token: 'admin' },
      body: restartBody,
      answer: restartAnswer,
    }),
    (request) =>
      restartSystem(deps, { requestedBy: getUser(request).id, actor: actorOf(request, deps.config) }),
  );
}

/** The position makers of all instances on this database combined. */
async function readSystemStatus({ db, clock }: Pick<Deps, 'clock' | 'db'>): Promise<PositionMakerStatus> {
  const [workers, tasks, health] = await Promise.all([
    listWorkers(db),
    countTasks(db),
    readHealth(db, { now: clock.now() }),
  ]);
  const active = workers.filter(({ isActive }) => isActive);
  const activeWorkers = active.length;
  return {
    isRunning: activeWorkers > 0,
    threadManager: {
      activeWorkers,
      totalWorkers: workers.length,
      processingTasks: tasks.processing,
      completedTasks: tasks.completed,
    },
    workers: workers.map(isoDates),
    health: { ...health, instances: new Set(active.map(({ instanceId }) => instanceId)).size },
  };
}

/** Completed = all - unfinished: those two counts use indexes, a count of completed trades would read full rows. */
async function countTasks(db: Db): Promise<{ processing: number; completed: number }> {
  const { rows } = await db.execute<{ total: number; processing: number }>(sql`
    select (select count(*) from trades)::int as total,
      (select count(*) from trades where state <> 'done')::int as processing`);
  const { total = 0, processing = 0 } = rows[0] ?? {};
  return { processing, completed: total - processing };
}
