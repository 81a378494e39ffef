import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, PgBoss } from 'pg-boss';

/** Only jobs that missed every other call wait for it. */
const BACKSTOP_SECONDS = 30;

/** A job that takes longer waits for an exchange, as a rule: it gives its worker to another job, and goes on beside. */
export const GIVES_WAY_AFTER_MS = 1_000;

/** The workers of one queue; each works on one job at a time. */
export interface QueueWorkers {
  /** Makes a free worker look for a job. When it finds one, it wakes the next worker: there may be more. */
  wakeOne(): void;
  /** Ends the wake-ups; the queue's own polling continues. */
  stop(): void;
  /** Resolves when the jobs that gave their workers away have ended. */
  idle(): Promise<void>;
}

/**
 * Free workers sleep until one of them is woken: by the announcement of a job, by the clock (for delayed jobs), or by a
 * worker that has found a job. If all looked for each job, a dozen statements would delay the one that is needed.
 *
 * A slow account must not take all workers: `mostBeside` jobs may go on beside them. The queue no longer knows such a
 * job, so `sendAgain` is called when it fails; when the process dies, the sweep for lost calls finds its work.
 */
export async function startQueueWorkers<Data extends object>(options: {
  boss: PgBoss;
  name: string;
  concurrency: number;
  /** Fallback poll interval. */
  pollSeconds: number;
  handle: (data: Data) => Promise<void>;
  mostBeside: number;
  sendAgain: (data: Data) => Promise<void>;
}): Promise<QueueWorkers> {
  const { boss, name, concurrency, pollSeconds, handle, mostBeside, sendAgain } = options;
  const free = new Set<string>();
  /** A wake-up came while all workers were busy: the next free worker looks. */
  let isUnheard = false;
  const beside = new Set<Promise<void>>();

  /** Resolves when the job has ended or goes on beside the workers. */
  async function work(data: Data): Promise<void> {
    const working = handle(data);
    const waiting = new AbortController();
    const isSlow = sleep(GIVES_WAY_AFTER_MS, true, { signal: waiting.signal, ref: false });
    isSlow.catch(() => undefined);
    try {
      if (mostBeside === 0 || (await Promise.race([working, isSlow])) !== true) return await working;
    } finally {
      waiting.abort();
    }
    if (beside.size >= mostBeside) return await working;
    const rest = working.catch(() => sendAgain(data)).catch(() => undefined);
    beside.add(rest);
    void rest.then(() => beside.delete(rest));
  }

  const wakeOne = (): void => {
    const [id] = free;
    if (id === undefined) {
      isUnheard = true;
      return;
    }
    // Rotates, so that no worker is woken twice before the others.
    free.delete(id);
    free.add(id);
    boss.notifyWorker(id);
  };

  async function startWorker(): Promise<void> {
    let id = '';
    const interval = { pollingIntervalSeconds: BACKSTOP_SECONDS };
    id = await boss.work<Data>(name, interval, async (jobs: Job<Data>[]) => {
      free.delete(id);
      wakeOne();
      try {
        for (const { data } of jobs) await work(data);
      } finally {
        free.add(id);
        if (isUnheard) {
          isUnheard = false;
          boss.notifyWorker(id);
        }
      }
    });
    free.add(id);
  }

  await Promise.all(Array.from({ length: concurrency }, startWorker));
  const clock = setInterval(wakeOne, pollSeconds * 1_000);
  clock.unref();
  return {
    wakeOne,
    stop() {
      clearInterval(clock);
      free.clear();
    },
    async idle() {
      await Promise.all(beside);
    },
  };
}
