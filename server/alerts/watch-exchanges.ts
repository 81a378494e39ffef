import type { Deps } from '#server/deps.ts';
import { eachAlone } from '#server/platform/each-alone.ts';
import type { CallResult } from '#server/platform/metrics.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';
import { beginState, endState } from './notice-states.store.ts';

const UNREACHABLE_MS = 30_000;
const LEAST_FAILURES = 3;
const NO_ANSWER: readonly CallResult[] = ['no-answer', 'unreachable', 'server-error'];

interface Reach {
  failures: number;
  since: Date;
  isTold: boolean;
}

/** Follows the answers of each exchange in memory; the calls of trading wait for nothing. */
export interface ExchangeWatch {
  called(call: { platform: string; result: CallResult }): void;
  /** Writes what has changed. */
  tell(): Promise<void>;
}

export function createExchangeWatch({ db, clock, log }: Pick<Deps, 'clock' | 'db' | 'log'>): ExchangeWatch {
  const reaches = new Map<string, Reach>();

  function called({ platform, result }: { platform: string; result: CallResult }): void {
    if (result === 'not-sent') return;
    const reach = reaches.get(platform);
    if (!NO_ANSWER.includes(result)) {
      // A state of an earlier run of the program ends with the first answer.
      if (reach === undefined || reach.failures > 0)
        reaches.set(platform, { failures: 0, since: clock.now(), isTold: true });
      return;
    }
    if (reach === undefined || reach.failures === 0) {
      reaches.set(platform, { failures: 1, since: clock.now(), isTold: false });
    } else {
      reach.failures += 1;
    }
  }

  async function tellOf([platform, reach]: [string, Reach], now: Date): Promise<void> {
    const key = `exchange:${platform}`;
    const data = { exchange: platform };
    if (reach.failures === 0) {
      if (!reach.isTold) return;
      await db.transaction(async (tx) => {
        if ((await endState(tx, key)) === null) return;
        await noteEvents(tx, [{ code: 'exchange_recovered', data, at: now }]);
      });
      reach.isTold = false;
      return;
    }
    const isLong = now.getTime() - reach.since.getTime() >= UNREACHABLE_MS;
    if (reach.isTold || !isLong || reach.failures < LEAST_FAILURES) return;
    await db.transaction(async (tx) => {
      if (!(await beginState(tx, { key, now }))) return;
      await noteEvents(tx, [{ code: 'exchange_unreachable', data, at: now }]);
    });
    reach.isTold = true;
  }

  async function tell(): Promise<void> {
    const now = clock.now();
    await eachAlone(
      reaches,
      (one) => tellOf(one, now),
      (err, [platform]) => log.warn({ err, platform }, 'whether an exchange answers could not be noted'),
    );
  }

  return { called, tell };
}
