import type { BookOwner } from '#server/exchanges/paper/book.ts';

export interface PutOffTask {
  owner: BookOwner;
  /** Due after this time or after this many more requests for the account, whichever comes first. */
  afterMs?: number | undefined;
  afterRequests?: number | undefined;
  run: () => Promise<unknown>;
}

export interface PutOff {
  add(task: PutOffTask): void;
  /** Runs due tasks. With an owner, this counts as one of that account's requests. */
  runDue(owner?: BookOwner): Promise<void>;
}

/** Postponed work of the exchange, kept in memory: it serves faults, which do not survive a restart either. */
export function createPutOff(options: { clock: { now(): Date }; onError: (error: unknown) => void }): PutOff {
  const { clock, onError } = options;
  let waiting: { task: PutOffTask; dueAt: number; requestsLeft: number }[] = [];
  return {
    add(task) {
      const { afterMs, afterRequests = afterMs === undefined ? 1 : Number.POSITIVE_INFINITY } = task;
      const dueAt = afterMs === undefined ? Number.POSITIVE_INFINITY : clock.now().getTime() + afterMs;
      waiting.push({ task, dueAt, requestsLeft: afterRequests });
    },
    async runDue(owner) {
      if (waiting.length === 0) return;
      const now = clock.now().getTime();
      for (const entry of waiting) if (owner && isSame(entry.task.owner, owner)) entry.requestsLeft -= 1;
      const isDue = (entry: (typeof waiting)[number]) => entry.dueAt <= now || entry.requestsLeft < 0;
      const due = waiting.filter(isDue);
      waiting = waiting.filter((entry) => !isDue(entry));
      for (const { task } of due) await task.run().catch(onError);
    },
  };
}

const isSame = (a: BookOwner, b: BookOwner) => a.userId === b.userId && a.platform === b.platform;
