import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, systemClock } from '#server/platform/clock.ts';

const START = '2026-01-02T03:04:05.000Z';

export interface FakeClock extends Clock {
  advance(ms: number): void;
  set(instant: Date | string): void;
}

/**
 * Only the date is moved by hand; waits take real time, as in a program that a test uses from outside. Work whose waits
 * matter gets a `testClock`.
 */
export function fakeClock(start: Date | string = START): FakeClock {
  let nowMs = new Date(start).getTime();
  return {
    ...systemClock,
    now: () => new Date(nowMs),
    advance(ms) {
      nowMs += ms;
    },
    set(instant) {
      nowMs = new Date(instant).getTime();
    },
  };
}

export interface TestClock extends Clock {
  /** Moves the time on. Each wait that is over ends in order and at its own time; promises settle after each. */
  advance(ms: number): Promise<void>;
  /** Sets the date, forward or back, as somebody sets the machine's: no wait ends by it. */
  set(instant: Date | string): void;
  /** Lets everything go on that waits for neither time nor input and output. */
  idle(): Promise<void>;
  /** In how many milliseconds the waits end, soonest first. */
  waits(): number[];
  /** Moves the time to the end of each wait as it comes, until the work has ended: for work that waits for one thing at a time. */
  run<Result>(work: Promise<Result>): Promise<Result>;
}

interface Wait {
  dueMs: number;
  everyMs: number | null;
  work: () => void;
}

/** Date and waits are moved by hand only. */
export function testClock(start: Date | string = START): TestClock {
  let nowMs = new Date(start).getTime();
  let elapsedMs = 0;
  /** In the order in which they end, then in that of their begin. */
  let waits: Wait[] = [];
  let onWait = () => {};

  function add(wait: Wait): void {
    waits = [...waits, wait].toSorted((one, other) => one.dueMs - other.dueMs);
    onWait();
  }

  function schedule(ms: number, work: () => void, everyMs: number | null = null): () => void {
    const wait = { dueMs: elapsedMs + Math.max(0, ms), everyMs, work };
    add(wait);
    return () => {
      wait.everyMs = null;
      waits = waits.filter((other) => other !== wait);
    };
  }

  function moveTo(ms: number): void {
    nowMs += ms - elapsedMs;
    elapsedMs = ms;
  }

  async function advance(ms: number): Promise<void> {
    const endMs = elapsedMs + ms;
    await nextTurn();
    for (let next = waits[0]; next !== undefined && next.dueMs <= endMs; next = waits[0]) {
      waits = waits.slice(1);
      moveTo(Math.max(elapsedMs, next.dueMs));
      next.work();
      if (next.everyMs !== null) {
        next.dueMs += next.everyMs;
        add(next);
      }
      await nextTurn();
    }
    moveTo(Math.max(elapsedMs, endMs));
    await nextTurn();
  }

  return {
    now: () => new Date(nowMs),
    monotonicMs: () => elapsedMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const cancel = schedule(ms, () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        });
        const onAbort = () => {
          cancel();
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', onAbort, { once: true });
      }),
    after: (ms, work) => schedule(ms, work),
    every: (ms, work) => schedule(ms, work, Math.max(1, ms)),
    deadline(ms) {
      const controller = new AbortController();
      schedule(ms, () => controller.abort(new DOMException('The time is over', 'TimeoutError')));
      return controller.signal;
    },
    advance,
    set(instant) {
      nowMs = new Date(instant).getTime();
    },
    idle: async () => {
      await nextTurn();
    },
    waits: () => waits.map(({ dueMs }) => dueMs - elapsedMs),
    async run(work) {
      let hasEnded = false;
      const end = () => {
        hasEnded = true;
        onWait();
      };
      work.then(end, end);
      while (!hasEnded) {
        const [next] = waits;
        if (next !== undefined) await advance(Math.max(0, next.dueMs - elapsedMs));
        else
          await new Promise<void>((resolve) => {
            onWait = resolve;
          });
      }
      return await work;
    },
  };
}
