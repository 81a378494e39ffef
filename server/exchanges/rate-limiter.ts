import type { CallPriority } from './exchange.ts';
import { createEgressHolds } from './rate-holds.ts';
import { bucketSlots, egressSlots, type LimitRefusal, PRIORITIES, rankOf } from './rate-limits.ts';
import type { SlotAnswer, SlotStore } from './rate-slots.ts';
import { TransportError } from './transport-error.ts';

/*
 * Requests that leave through one address stand in one queue of this instance: by priority, then by their arrival.
 * 1. Nothing leaves without a slot of the address and one of its own limit, both counted for all instances.
 * 2. Who is told to wait keeps the place; who could only leave after the deadline is told so, and was surely not sent.
 * 3. A limit that holds one user back holds nobody else back.
 */

export interface Turn {
  /** The limit of all requests through the address. */
  egress: Limit;
  /** The limit of this user's requests to this endpoint. */
  bucket: Limit;
  priority: CallPriority;
  /** How long it may wait. */
  patienceMs: number;
}

export interface Limit {
  key: string;
  perSecond: number;
}

export interface RateLimiter {
  /** Resolves when the request may leave; throws a TransportError of phase `limited` when that is too late. */
  take(turn: Turn): Promise<void>;
  /** The exchange said that it was too much: what it concerns waits, in all instances. */
  holdBack(turn: Pick<Turn, 'egress' | 'bucket'>, refusal: LimitRefusal): Promise<void>;
  close(): void;
}

/** So many ask for slots in one statement. */
const BATCH = 20;
/** Between two questions for slots of an address that has none: some come together meanwhile. */
const PAUSE_MS = 25;
const BUCKET_HOLD_MS = 1_000;
const MAX_BUCKET_HOLD_MS = 60_000;
/** Those who were held back together should not come back together. */
const JITTER = 0.2;

interface Waiting {
  turn: Turn;
  deadlineMs: number;
  leave: () => void;
  giveUp: (waitMs: number) => void;
}

interface Queue {
  waiting: Waiting[];
  /** When to ask again: for all of a priority (`egress`), or for those of one limit and priority. */
  openAtMs: Map<string, number>;
  isWorking: boolean;
  wake: () => void;
}

export function createRateLimiter(options: { slots: SlotStore; random?: () => number }): RateLimiter {
  const { slots, random = Math.random } = options;
  const queues = new Map<string, Queue>();
  const egressHolds = createEgressHolds();
  const nowMs = () => performance.now();

  function queueOf(key: string): Queue {
    const known = queues.get(key);
    if (known) return known;
    const queue: Queue = { waiting: [], openAtMs: new Map(), isWorking: false, wake: () => {} };
    queues.set(key, queue);
    return queue;
  }

  async function work(queue: Queue): Promise<void> {
    queue.isWorking = true;
    for (sendAway(queue, nowMs()); queue.waiting.length > 0; sendAway(queue, nowMs())) {
      const ready = readyOf(queue, nowMs());
      if (ready.length === 0) {
        await pause(queue, nextChangeMs(queue) - nowMs());
        continue;
      }
      const asked = ready.map(({ turn }) => ({
        egress: egressSlots(turn.egress.key, turn.egress.perSecond, turn.priority),
        bucket: bucketSlots(turn.bucket.key, turn.bucket.perSecond, turn.priority),
      }));
      const answers = await slots.take(asked);
      for (const [index, waiting] of ready.entries()) settle(queue, waiting, answers[index]);
    }
    queue.isWorking = false;
  }

  function settle(queue: Queue, waiting: Waiting, answer: SlotAnswer | undefined): void {
    if (answer === undefined) return;
    if (answer.blockedBy === null) {
      queue.waiting.splice(queue.waiting.indexOf(waiting), 1);
      waiting.leave();
      return;
    }
    const { turn } = waiting;
    if (answer.blockedBy === 'bucket') {
      queue.openAtMs.set(bucketGate(turn), nowMs() + Math.max(answer.waitMs, 1));
      return;
    }
    // Nobody of lower priority may slip in while this one waits.
    const atMs = nowMs() + Math.max(answer.waitMs, PAUSE_MS);
    for (const priority of PRIORITIES.slice(rankOf(turn.priority))) {
      const gate = egressGate(priority);
      queue.openAtMs.set(gate, Math.max(queue.openAtMs.get(gate) ?? 0, atMs));
    }
  }

  return {
    take: (turn) =>
      new Promise((resolve, reject) => {
        const queue = queueOf(turn.egress.key);
        const waiting: Waiting = {
          turn,
          deadlineMs: nowMs() + turn.patienceMs,
          leave: resolve,
          giveUp: (waitMs) => reject(tooLate(turn, waitMs)),
        };
        const rank = rankOf(turn.priority);
        const place = queue.waiting.findIndex((other) => rankOf(other.turn.priority) > rank);
        queue.waiting.splice(place === -1 ? queue.waiting.length : place, 0, waiting);
        if (queue.isWorking) queue.wake();
        else void work(queue);
      }),

    async holdBack({ egress, bucket }, refusal) {
      const jittered = (waitMs: number) => waitMs * (1 + JITTER * random());
      const egressMs = egressHolds.holdMs({
        egress: egress.key,
        bucket: bucket.key,
        refusal,
        nowMs: nowMs(),
      });
      const holds: Promise<void>[] = [];
      if (refusal.of === 'bucket') {
        const waitMs = Math.min(refusal.waitMs ?? BUCKET_HOLD_MS, MAX_BUCKET_HOLD_MS);
        holds.push(slots.hold(bucket.key, jittered(waitMs)));
      }
      if (egressMs !== null) holds.push(slots.hold(egress.key, jittered(egressMs)));
      await Promise.all(holds);
    },

    close: () => slots.close(),
  };
}

const egressGate = (priority: CallPriority) => `egress ${priority}`;
const bucketGate = ({ bucket, priority }: Turn) => `bucket ${bucket.key} ${priority}`;

function openAtMs({ openAtMs: gates }: Queue, { turn }: Waiting): number {
  return Math.max(gates.get(egressGate(turn.priority)) ?? 0, gates.get(bucketGate(turn)) ?? 0);
}

/** Those that may ask now, in their order. */
function readyOf(queue: Queue, nowMs: number): Waiting[] {
  for (const [gate, atMs] of queue.openAtMs) if (atMs <= nowMs) queue.openAtMs.delete(gate);
  const ready: Waiting[] = [];
  for (const waiting of queue.waiting) {
    if (ready.length === BATCH) break;
    if (openAtMs(queue, waiting) <= nowMs) ready.push(waiting);
  }
  return ready;
}

function sendAway(queue: Queue, nowMs: number): void {
  const late = queue.waiting.filter(
    (waiting) => Math.max(openAtMs(queue, waiting), nowMs) >= waiting.deadlineMs,
  );
  if (late.length === 0) return;
  queue.waiting = queue.waiting.filter((waiting) => !late.includes(waiting));
  for (const waiting of late) waiting.giveUp(openAtMs(queue, waiting) - nowMs);
}

const nextChangeMs = (queue: Queue): number =>
  Math.min(...queue.waiting.map((waiting) => Math.min(openAtMs(queue, waiting), waiting.deadlineMs)));

function pause(queue: Queue, waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(1, waitMs));
    queue.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

const RETRY_MS = 1_000;

const tooLate = ({ patienceMs }: Turn, waitMs: number) =>
  new TransportError(
    'limited',
    `not sent: the request limits of the exchange let nothing more through within ${Math.round(patienceMs)} ms`,
    { retryAfterMs: Math.max(RETRY_MS, Math.ceil(waitMs)) },
  );
