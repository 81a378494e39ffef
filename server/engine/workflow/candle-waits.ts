import { isBarCandleDue } from '#server/engine/sizing/match-price-log.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import type { ChangeFeed } from '#server/platform/change-feed.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Db } from '#server/platform/db/database.ts';
import type { Jobs } from '#server/platform/jobs/jobs.ts';
import type { Logger } from '#server/platform/log.ts';

interface CandleWait {
  workflowId: string;
  isOwn: boolean;
  signal: SignalRow;
  /** What is left of the wait. */
  waitMs: number;
}

/**
 * Wakes workflows of this instance that wait for the candle of their bar: when the candle is there, whichever instance
 * stored it, or when the wait is over. A workflow that is woken twice decides once.
 */
export interface CandleWaits {
  expect(wait: CandleWait): void;
  stop(): void;
}

export function createCandleWaits({
  db,
  clock,
  jobs,
  changeFeed,
  log,
}: {
  db: Db;
  clock: Clock;
  jobs: Pick<Jobs, 'send'>;
  changeFeed: ChangeFeed;
  log: Logger;
}): CandleWaits {
  const waits = new Map<string, CandleWait & { cancel: () => void }>();
  let listening: Promise<unknown> | null = null;
  let looking = false;
  let lookAgain = false;

  const report = (error: unknown) =>
    log.warn({ err: error }, 'a workflow that waits for a candle could not be woken');

  function end({ workflowId, isOwn }: CandleWait): void {
    waits.get(workflowId)?.cancel();
    waits.delete(workflowId);
    // The job that was sent with the wait wakes it if this one cannot be sent.
    jobs.send(db, 'run-workflow', { workflowId }, { isOwn }).catch(report);
  }

  /** One look at a time; a candle that is announced meanwhile causes another. */
  async function look(): Promise<void> {
    lookAgain = true;
    if (looking) return;
    looking = true;
    try {
      while (lookAgain) {
        lookAgain = false;
        for (const wait of [...waits.values()]) {
          if (!(await isBarCandleDue(db, wait.signal)) && waits.has(wait.workflowId)) end(wait);
        }
      }
    } finally {
      looking = false;
    }
  }

  const lookNow = () => {
    if (waits.size > 0) look().catch(report);
  };

  function listen(): Promise<unknown> {
    listening ??= changeFeed
      .subscribe({
        onMessage: ({ topic }) => {
          if (topic === 'price-logs') lookNow();
        },
        onGap: lookNow,
        onAway: () => {},
      })
      .catch((error: unknown) => {
        listening = null;
        throw error;
      });
    return listening;
  }

  return {
    expect(wait) {
      const { workflowId, waitMs } = wait;
      waits.get(workflowId)?.cancel();
      const cancel = clock.after(waitMs, () => end(wait));
      waits.set(workflowId, { ...wait, cancel });
      // The candle may have come before anybody listened.
      listen().then(lookNow).catch(report);
    },
    stop() {
      for (const { cancel } of waits.values()) cancel();
      waits.clear();
    },
  };
}
