import type { JobWithMetadata, PgBoss } from 'pg-boss';
import type { Clock } from '../clock.ts';

/** Only jobs that missed every other call wait for it. */
const BACKSTOP_SECONDS = 30;

/** A job that takes longer waits for an exchange, as a rule: it gives its worker to another job, and goes on beside. */
export const GIVES_WAY_AFTER_MS = 1_000;

const ENDED = Symbol('ended');

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
 * job, so it is sent again here when it fails, with the retries and the place that it has left; when the process dies,
 * the sweep for lost calls finds its work.
 */
export async function startQueueWorkers<Data extends object>(options: {
  boss: PgBoss;
  clock: Clock;
  name: string;
  concurrency: number;
  /** Fallback poll interval. */
  pollSeconds: number;
  handle: (data: Data) => Promise<void>;
  mostBeside: number;
  /** A job gave its worker away; it settles when the job ends. */
  gaveWay?: (working: Promise<unknown>) => void;
  /** Resolves when a job that began now counts as slow. */
  isSlow?: (signal: AbortSignal) => Promise<unknown>;
}): Promise<QueueWorkers> {
  const { boss, clock, name, concurrency, pollSeconds, handle, mostBeside, gaveWay } = options;
  const { isSlow = (signal: AbortSignal) => clock.sleep(GIVES_WAY_AFTER_MS, signal) } = options;
  const free = new Set<string>();
  /** A wake-up came while all workers were busy: the next free worker looks. */
  let isUnheard = false;
  const beside = new Set<Promise<void>>();

  /** Resolves when the job has ended or goes on beside the workers. */
  async function work(job: JobWithMetadata<Data>): Promise<void> {
    const working = handle(job.data).then(() => ENDED);
    const waiting = new AbortController();
    try {
      const slow = mostBeside === 0 ? working : isSlow(waiting.signal);
      slow.catch(() => undefined);
      if ((await Promise.race([working, slow])) === ENDED) return;
    } finally {
      waiting.abort();
    }
    if (beside.size >= mostBeside) {
      await working;
      return;
    }
    gaveWay?.(working);
    const rest = working
      .then(() => undefined)
      .catch(() => sendAgain(job))
      .catch(() => undefined);
    beside.add(rest);
    void rest.then(() => beside.delete(rest));
  }

  /** As the queue itself would: it counts on from the retries that the job had left. */
  async function sendAgain(job: JobWithMetadata<Data>): Promise<void> {
    const { data, priority, retryLimit, retryCount, retryDelay, retryDelayMax } = job;
    if (retryCount >= retryLimit) return;
    const most = retryDelayMax ?? Number.POSITIVE_INFINITY;
    const seconds = Math.min(retryDelay * 2 ** retryCount, most);
    const left = { retryLimit: retryLimit - retryCount - 1, retryDelay: Math.min(2 * seconds, most) };
    await boss.insert(name, [{ data, priority, startAfter: seconds, ...left }]);
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
    const options = { pollingIntervalSeconds: BACKSTOP_SECONDS, includeMetadata: true } as const;
    id = await boss.work<Data, void, typeof options>(name, options, async (jobs: JobWithMetadata<Data>[]) => {
      free.delete(id);
      wakeOne();
      try {
        for (const job of jobs) await work(job);
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
  const stopPolling = clock.every(pollSeconds * 1_000, wakeOne);
  return {
    wakeOne,
    stop() {
      stopPolling();
      free.clear();
    },
    async idle() {
      await Promise.all(beside);
    },
  };
}
