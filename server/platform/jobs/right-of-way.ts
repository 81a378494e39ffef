import { performance } from 'node:perf_hooks';
import type { Clock } from '../clock.ts';

/**
 * Deliveries have priority: an alert that is not answered in time is lost, an order can wait. While deliveries keep the
 * event loop busy, other work begins one piece after the other; work that has begun continues.
 */
export interface RightOfWay {
  /** Called when one transaction stored this many deliveries. */
  noteStored(deliveries: number): void;
  /** Creates a lane for one kind of work that gives way. */
  createLane(): <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** The pieces of work in all lanes that wait to begin. */
  waiting(): number;
}

const SAMPLE_MS = 100;
/** Utilization of the event loop; deliveries on their own make it three quarters. */
const BUSY = 0.6;
/** Deliveries per transaction; at this number they arrive faster than transactions end. */
const MANY_IN_ONE = 8;
/** The time between two beginnings in a lane. */
const PACE_MS = 150;

export function createRightOfWay(options: {
  clock: Clock;
  /** Since the last call, from 0 to 1. */
  utilization?: () => number;
}): RightOfWay {
  const { clock, utilization = measureUtilization() } = options;
  const nowMs = clock.monotonicMs;
  let sampledAt = nowMs();
  let deliveries = 0;
  let transactions = 0;
  let isTaken = false;
  let waitingOfAll = 0;

  function sample(): void {
    const now = nowMs();
    if (now - sampledAt < SAMPLE_MS) return;
    const areMany = transactions > 0 && deliveries >= MANY_IN_ONE * transactions;
    isTaken = utilization() >= BUSY && areMany;
    [sampledAt, deliveries, transactions] = [now, 0, 0];
  }

  return {
    waiting: () => waitingOfAll,
    noteStored(count) {
      deliveries += count;
      transactions += 1;
      sample();
    },
    createLane() {
      const waiting: (() => void)[] = [];
      let begunAt = Number.NEGATIVE_INFINITY;
      let isAsleep = false;

      function begin(): void {
        isAsleep = false;
        sample();
        while (waiting.length > 0) {
          const waitMs = isTaken ? begunAt + PACE_MS - nowMs() : 0;
          if (waitMs > 0) {
            isAsleep = true;
            clock.after(waitMs, begin);
            return;
          }
          begunAt = nowMs();
          waitingOfAll -= 1;
          waiting.shift()?.();
        }
      }

      return async (work) => {
        await new Promise<void>((resolve) => {
          waitingOfAll += 1;
          waiting.push(resolve);
          if (!isAsleep) begin();
        });
        return await work();
      };
    },
  };
}

function measureUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
