import { isDeepStrictEqual } from 'node:util';
import type { EngineDeps } from '#server/deps.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import { runWorkflow } from '#server/engine/workflow/run-workflow.ts';
import { tradeUser, tradeWave } from '#server/engine/workflow/trade-wave.ts';
import type { JobData, JobHandlers, JobName, Jobs } from '#server/platform/jobs/jobs.ts';
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
  function add<Name extends JobName>(
    name: Name,
    data: JobData[Name],
    waitMs: number | ((data: JobData[Name]) => number) = 0,
  ): void {
    const wait = typeof waitMs === 'number' ? waitMs : waitMs(data);
    waiting.push({ name, data, after: clock.now().getTime() + wait });
  }
  const jobs: Jobs = {
    async send(_db, name, data, options = {}) {
      for (const one of Array.isArray(data) ? data : [data]) add(name, one, options.waitMs);
    },
    async sendMissing(_db, name, data, options = {}) {
      const isWaiting = (one: unknown) =>
        waiting.some((job) => job.name === name && isDeepStrictEqual(job.data, one));
      for (const one of data) if (!isWaiting(one)) add(name, one, options.waitMs);
    },
    start: async () => {},
    stop: async () => {},
    isRunning: () => true,
    activity: () => ({ activeJobs: 0, besideJobs: 0, completedJobs: 0, lastActivityAt: null }),
  };
  return {
    jobs,
    waiting: (): readonly WaitingJob[] => waiting,
    /** Runs all jobs, earliest first, and moves the clock to the time of delayed jobs. */
    async drain(deps: EngineDeps): Promise<void> {
      const handlers: JobHandlers = {
        'run-workflow': ({ workflowId }) => runWorkflow(deps, workflowId),
        'trade-wave': (wave) => tradeWave(deps, wave),
        'trade-user': (task) => tradeUser(deps, task),
        'advance-trade': ({ tradeId, ...known }) => advanceTrade(deps, tradeId, known),
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
