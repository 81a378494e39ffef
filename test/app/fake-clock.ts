import { TestClock as QueueClock } from 'pg-boss';
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

/** The machine's clock, which a test puts ahead so that what is remembered for some seconds is old. */
export function aheadClock(): Clock & { advance(ms: number): void } {
  let aheadMs = 0;
  return {
    ...systemClock,
    now: () => new Date(systemClock.now().getTime() + aheadMs),
    advance(ms) {
      aheadMs += ms;
    },
  };
}

export interface TestClock extends Clock {
  /** Moves the time on. Each wait that is over ends in order and at its own time; promises settle after each. */
  advance(ms: number): Promise<void>;
  /** Jumps, as if the machine had slept: waits that are over by then end with the next advance. */
  set(instant: Date | string): Promise<void>;
  /** Lets everything go on that waits for neither time nor input and output. */
  idle(): Promise<void>;
  /** In how many milliseconds the waits end, soonest first. */
  waits(): number[];
  /** Moves the time to the end of each wait as it comes, until the work has ended: for work that waits for one thing at a time. */
  run<Result>(work: Promise<Result>): Promise<Result>;
  /** The same clock for a job queue, which then asks it in the database too. */
  queue: QueueClock;
}

/** Date and waits are moved by hand only. */
export function testClock(start: Date | string = START): TestClock {
  const queue = new QueueClock(start);
  const startMs = queue.now();
  let jumpedMs = 0;
  /** When each wait ends. */
  const waits = new Map<object, number>();
  let onWait = () => {};

  function after(ms: number, work: () => void): () => void {
    const wait = {};
    const timer = queue.setTimeout(() => {
      waits.delete(wait);
      work();
    }, ms);
    waits.set(wait, queue.now() + Math.max(0, ms));
    onWait();
    return () => {
      waits.delete(wait);
      queue.clearTimeout(timer);
    };
  }

  const restsMs = () => [...waits.values()].map((dueMs) => dueMs - queue.now()).toSorted((a, b) => a - b);

  return {
    queue,
    now: () => new Date(queue.now()),
    monotonicMs: () => queue.now() - startMs - jumpedMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const cancel = after(ms, () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        });
        const onAbort = () => {
          cancel();
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', onAbort, { once: true });
      }),
    after,
    every(ms, work) {
      let stop = () => {};
      const again = () => {
        stop = after(Math.max(1, ms), () => {
          again();
          work();
        });
      };
      again();
      return () => stop();
    },
    deadline(ms) {
      const controller = new AbortController();
      after(ms, () => controller.abort(new DOMException('The time is over', 'TimeoutError')));
      return controller.signal;
    },
    advance: (ms) => queue.tick(ms),
    async set(instant) {
      const beforeMs = queue.now();
      await queue.setTime(instant);
      jumpedMs += queue.now() - beforeMs;
    },
    idle: () => queue.tick(0),
    waits: restsMs,
    async run(work) {
      let hasEnded = false;
      const end = () => {
        hasEnded = true;
        onWait();
      };
      work.then(end, end);
      while (!hasEnded) {
        const [restMs] = restsMs();
        if (restMs !== undefined) await queue.tick(Math.max(0, restMs));
        else
          await new Promise<void>((resolve) => {
            onWait = resolve;
          });
      }
      return await work;
    },
  };
}
