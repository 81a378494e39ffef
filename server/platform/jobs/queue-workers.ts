import type { Job, PgBoss } from 'pg-boss';

/** Only jobs that missed every other call wait for it. */
const BACKSTOP_SECONDS = 30;

/** The workers of one queue; each works on one job at a time. */
export interface QueueWorkers {
  /** Makes a free worker look for a job. When it finds one, it wakes the next worker: there may be more. */
  wakeOne(): void;
  /** Ends the wake-ups; the queue's own polling continues. */
  stop(): void;
}

/**
 * Free workers sleep until one of them is woken: by the announcement of a job, by the clock (for delayed jobs), or by a
 * worker that has found a job. If all looked for each job, a dozen statements would delay the one that is needed.
 */
export async function startQueueWorkers<Data extends object>(options: {
  boss: PgBoss;
  name: string;
  concurrency: number;
  /** Fallback poll interval. */
  pollSeconds: number;
  handle: (data: Data) => Promise<void>;
}): Promise<QueueWorkers> {
  const { boss, name, concurrency, pollSeconds, handle } = options;
  const free = new Set<string>();
  /** A wake-up came while all workers were busy: the next free worker looks. */
  let isUnheard = false;

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
        for (const { data } of jobs) await handle(data);
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
  };
}
