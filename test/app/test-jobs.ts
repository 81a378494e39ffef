import { isDeepStrictEqual } from 'node:util';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import type { AutomationDeps } from '#server/engine/workflow/automation-deps.ts';
import { runWorkflow } from '#server/engine/workflow/run-workflow.ts';
import { orderForUser } from '#server/engine/workflow/trade-user.ts';
import type { JobHandlers, JobName, Jobs } from '#server/platform/jobs/jobs.ts';
import type { FakeClock } from './fake-clock.ts';

interface WaitingJob {
  name: JobName;
  data: unknown;
  after: number;
}

const MOST_JOBS = 500;

export type TestJobs = ReturnType<typeof testJobs>;

/** An in-memory queue whose jobs run only in `drain`. */
export function testJobs(clock: FakeClock) {
  const waiting: WaitingJob[] = [];
  const jobs: Jobs = {
    async send(_db, name, data, options = {}) {
      const after = clock.now().getTime() + (options.waitMs ?? 0);
      for (const one of Array.isArray(data) ? data : [data]) waiting.push({ name, data: one, after });
    },
    async sendWithCommit(tx, name, data, options) {
      await this.send(tx, name, data, options);
    },
    async sendMissing(_db, name, data, { waitMs = 0 } = {}) {
      const after = clock.now().getTime() + waitMs;
      const isWaiting = (one: unknown) =>
        waiting.some((job) => job.name === name && isDeepStrictEqual(job.data, one));
      for (const one of data) if (!isWaiting(one)) waiting.push({ name, data: one, after });
    },
    start: async () => {},
    stop: async () => {},
    isRunning: () => true,
    activity: () => ({ activeJobs: 0, completedJobs: 0, lastActivityAt: null }),
  };
  return {
    jobs,
    waiting: (): readonly WaitingJob[] => waiting,
    /** Runs all jobs, earliest first, and moves the clock to the time of delayed jobs. */
    async drain(deps: AutomationDeps): Promise<void> {
      const handlers: JobHandlers = {
        'run-workflow': ({ workflowId }) => runWorkflow(deps, workflowId),
        'trade-user': (task) => orderForUser(deps, task),
        'advance-trade': ({ tradeId }) => advanceTrade(deps, tradeId),
      };
      for (let count = 0; count < MOST_JOBS; count += 1) {
        waiting.sort((a, b) => a.after - b.after);
        const job = waiting.shift();
        if (job === undefined) return;
        if (job.after > clock.now().getTime()) clock.set(new Date(job.after));
        await (handlers[job.name] as (data: unknown) => Promise<void>)(job.data);
      }
      throw new Error(`jobs were left after ${MOST_JOBS}`);
    },
  };
}
