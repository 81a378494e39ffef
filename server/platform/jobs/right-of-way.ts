import { performance } from 'node:perf_hooks';

/**
 * Deliveries have the right of way: an alert that is not answered in time is lost, an order waits for its turn. While
 * more deliveries come than this process has time for, other work is begun one piece after the other; what has begun
 * goes on. There is no time left when the event loop is busy: a slow database or exchange leaves it plenty.
 */
export interface RightOfWay {
  /** So many deliveries were stored in one transaction. */
  noteStored(deliveries: number): void;
  /** Work of one kind that gives way. */
  createLane(): <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** How much work, of all kinds, waits to begin. */
  waiting(): number;
}

const SAMPLE_MS = 100;
/** The share of its time in which the event loop has something to do. Deliveries alone make it three quarters. */
const BUSY = 0.6;
/** Deliveries that come one by one are stored one by one; these come faster than a transaction ends. */
const MANY_IN_ONE = 8;
/** From one beginning to the next, however long what has begun takes: it may be waiting for an exchange. */
const PACE_MS = 150;

export function createRightOfWay(
  options: {
    nowMs?: () => number;
    /** Since the last time that it was asked: from 0 to 1. */
    utilization?: () => number;
  } = {},
): RightOfWay {
  const { nowMs = () => performance.now(), utilization = measureUtilization() } = options;
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
            setTimeout(begin, waitMs);
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
