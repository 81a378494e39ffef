import type { Db } from '#server/platform/db/database.ts';
import type { Logger } from '#server/platform/log.ts';
import { addUpList } from './add-up-list.ts';
import { ADDED_UP } from './counted-lists.ts';
import { noteClockLag } from './note-clock-lag.ts';

const EVERY_MS = 10_000;

/**
 * Adds the lists up again and again, in every instance, one of them at a time for each list; answers how to stop.
 * After a restore there may be millions of rows to go through, in steps; until then the lists count what is missing when
 * they are asked.
 */
export function startKeepingTotals({ db, log }: { db: Db; log: Logger }): () => void {
  let stopped = false;
  let running = false;
  let toldLagMs = 0;

  async function run(): Promise<void> {
    const lagMs = await noteClockLag(db);
    if (lagMs > toldLagMs) {
      log.error(
        { lagMs },
        "this machine's clock is behind the database's: totals of lists are slower to count",
      );
    }
    toldLagMs = lagMs;
    for (const { list, what } of ADDED_UP) {
      while (!stopped && (await addUpList(db, list, { what }))) await new Promise(setImmediate);
    }
  }

  function start(): void {
    if (stopped || running) return;
    running = true;
    run()
      .catch((error: unknown) => log.warn({ err: error }, 'the totals of lists could not be added up'))
      .finally(() => {
        running = false;
      });
  }

  const timer = setInterval(start, EVERY_MS);
  start();
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}
