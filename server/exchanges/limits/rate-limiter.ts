import type { Clock } from '#server/platform/clock.ts';
import { TransportError } from '../ccxt/transport-error.ts';
import type { CallPriority } from '../exchange.ts';
import {
  ACCOUNT_HOLD,
  INFERRED_ADDRESS_HOLD,
  NAMED_ADDRESS_HOLD,
  type RefusalWatch,
  watchRefusals,
} from './rate-holds.ts';
import {
  bucketSlots,
  egressSlots,
  type LimitRefusal,
  type LimitUsage,
  PRIORITIES,
  rankOf,
} from './rate-limits.ts';
import type { SlotAnswer, SlotStore } from './rate-slots.ts';

/*
 * Requests that leave through one address share one queue in this instance, ordered by priority, then by arrival.
 * 1. Nothing leaves without a slot of the address and one of its own limit, both counted across all instances.
 * 2. A waiting request keeps its place. One that could leave only after its deadline is refused and was certainly not
 *    sent.
 * 3. A limit of one account delays only that account: its requests take no slots, no places in a statement and no time
 *    from others.
 * 4. Limits reported in an answer are applied before the answer is returned.
 * 5. Accepted orders are followed behind all placements, but at least every tenth request follows one: a thousand
 *    placements must not wait for the look-ups of the first, nor the look-ups for the last placement.
 */

export interface Turn {
  /** The limit of all requests through the address. */
  egress: Limit;
  /** The limit of this account's requests to this endpoint. */
  bucket: Limit;
  /** Null for public requests: their endpoint has one limit per address. */
  account: string | null;
  /** Endpoint name for messages. */
  endpoint: string;
  priority: CallPriority;
  /** How long the request may wait. */
  patienceMs: number;
}

export interface Limit {
  key: string;
  perSecond: number;
}

/** A request that may leave. Its outcome must be reported, because others may wait for it. */
export interface Pass {
  turn: Turn;
  /** The holds that the request probes. */
  probes: SlotAnswer['probes'];
}

export interface RateLimiter {
  /** Resolves when the request may leave; throws a TransportError of phase `limited` if that would be too late. */
  take(turn: Turn): Promise<Pass>;
  /**
   * Reports an answer. Requests under a refused limit wait, in all instances; those under a limit that is used up wait
   * in this one, except closes and stops.
   */
  answered(pass: Pass, answer: { refusal: LimitRefusal | null; usage?: LimitUsage | null }): Promise<void>;
  /** Reports that the request was not sent after all, or that no answer came. */
  unanswered(pass: Pass): Promise<void>;
  /**
   * The requests of this priority that wait now for their address, through all addresses whose key begins so; not those
   * that a limit of their account holds back.
   */
  countWaiting(keyPrefix: string, priority: CallPriority): number;
  close(): void;
}

/** The maximum number of requests in one statement, in total and per account. */
const BATCH = 20;
const BATCH_OF_ACCOUNT = 5;
/** A busy address is asked again after this time, for many requests at once. Shorter than its burst lasts. */
const PAUSE_MS = 75;
/** An address is busy for so long after it had no slot. */
const BUSY_MS = 500;
/** Capped, because another instance's probe may end a hold early. */
const LONGEST_PAUSE_MS = 1_000;
const PUBLIC = 'public';
/** The most requests that leave in a row while one waits to follow an order. */
const MOST_BEFORE_FOLLOWING = 9;

interface Waiting {
  turn: Turn;
  deadlineMs: number;
  leave: (pass: Pass) => void;
  giveUp: (waitMs: number) => void;
  /** The latest answer of the slot store, i.e. why the request waits. */
  answer: SlotAnswer | null;
}

interface Queue {
  waiting: Waiting[];
  /** When to ask again: per priority (`egress`), or per limit and priority. */
  openAtMs: Map<string, number>;
  /** The last time of asking; until when the address is busy. */
  askedAtMs: number;
  busyUntilMs: number;
  isWorking: boolean;
  wake: () => void;
  watch: RefusalWatch;
  /** How many requests have left since one that follows an order, while another one waits. */
  sinceFollowing: number;
}

export function createRateLimiter({ slots, clock }: { slots: SlotStore; clock: Clock }): RateLimiter {
  const queues = new Map<string, Queue>();
  const nowMs = clock.monotonicMs;

  function queueOf(key: string): Queue {
    const known = queues.get(key);
    if (known) return known;
    const queue: Queue = {
      waiting: [],
      openAtMs: new Map(),
      askedAtMs: 0,
      busyUntilMs: 0,
      isWorking: false,
      wake: () => {},
      watch: watchRefusals(),
      sinceFollowing: 0,
    };
    queues.set(key, queue);
    return queue;
  }

  async function work(queue: Queue): Promise<void> {
    queue.isWorking = true;
    for (sendAway(queue, nowMs()); queue.waiting.length > 0; sendAway(queue, nowMs())) {
      const ready = readyOf(queue, nowMs());
      const restMs =
        ready.length === 0 ? nextChangeMs(queue) - nowMs() : restBeforeAsking(queue, ready, nowMs());
      if (ready.length === 0 || restMs > 0) {
        await pause(queue, restMs, clock);
        continue;
      }
      queue.askedAtMs = nowMs();
      const asked = ready.map(({ turn }) => ({
        account: accountOf(turn),
        rank: rankOf(turn.priority),
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
    const { turn } = waiting;
    waiting.answer = answer;
    if (answer.blockedBy === null) {
      remove(queue, waiting);
      if (turn.account !== null) queue.watch.asked(turn.account, nowMs());
      const isFollowing = turn.priority === 'follow' || !queue.waiting.some(isToFollow);
      queue.sinceFollowing = isFollowing ? 0 : queue.sinceFollowing + 1;
      waiting.leave({ turn, probes: answer.probes });
      return;
    }
    if (nowMs() + answer.waitMs >= waiting.deadlineMs) {
      remove(queue, waiting);
      waiting.giveUp(answer.waitMs);
    }
    // Requests of lower priority must not overtake this one.
    const isOwn = answer.blockedBy === 'bucket';
    if (!isOwn && !answer.isHeld) queue.busyUntilMs = nowMs() + BUSY_MS;
    const waitMs = Math.min(Math.max(answer.waitMs, isOwn ? 1 : PAUSE_MS), LONGEST_PAUSE_MS);
    for (const priority of PRIORITIES.slice(rankOf(turn.priority))) {
      closeGate(queue, isOwn ? bucketGate(turn, priority) : egressGate(priority), waitMs);
    }
  }

  function pauseBucket(queue: Queue, turn: Turn, waitMs: number): void {
    for (const priority of PRIORITIES) {
      if (priority !== 'protect') closeGate(queue, bucketGate(turn, priority), waitMs);
    }
  }

  function closeGate(queue: Queue, gate: string, waitMs: number): void {
    queue.openAtMs.set(gate, Math.max(queue.openAtMs.get(gate) ?? 0, nowMs() + waitMs));
  }

  /** Lets all waiting requests ask again. */
  function reopen(queue: Queue): void {
    queue.openAtMs.clear();
    queue.wake();
  }

  function holdsAfter({ turn, probes }: Pass, { of, waitMs }: LimitRefusal): Promise<void>[] {
    const { egress, bucket } = turn;
    const account = accountOf(turn);
    const refused = { account, isNamed: true, askedMs: waitMs };
    if (of === 'address') {
      const terms = NAMED_ADDRESS_HOLD;
      return [
        slots.hold(egress.key, { ...refused, terms, probeOf: probes.egress }),
        // The exchange refused the address before it checked the account's limit.
        ...(probes.bucket === null ? [] : [slots.passProbeOn(bucket.key, probes.bucket)]),
      ];
    }
    const holds = [slots.hold(bucket.key, { ...refused, terms: ACCOUNT_HOLD, probeOf: probes.bucket })];
    // The limit of a public endpoint says nothing about the address.
    const isAddress = turn.account !== null && queueOf(egress.key).watch.isAddress(account, nowMs());
    if (isAddress || probes.egress !== null) {
      const inferred = { account, isNamed: false, askedMs: null, terms: INFERRED_ADDRESS_HOLD };
      holds.push(slots.hold(egress.key, { ...inferred, probeOf: probes.egress }));
    }
    return holds;
  }

  return {
    take: (turn) =>
      new Promise((resolve, reject) => {
        const queue = queueOf(turn.egress.key);
        const waiting: Waiting = {
          turn,
          deadlineMs: nowMs() + turn.patienceMs,
          leave: resolve,
          giveUp: (waitMs) => reject(tooLate(waiting, waitMs)),
          answer: null,
        };
        const rank = rankOf(turn.priority);
        const place = queue.waiting.findIndex((other) => rankOf(other.turn.priority) > rank);
        queue.waiting.splice(place === -1 ? queue.waiting.length : place, 0, waiting);
        if (queue.isWorking) queue.wake();
        else void work(queue);
      }),

    async answered(pass, { refusal, usage = null }) {
      const { turn, probes } = pass;
      if (usage?.left === 0 && refusal === null) pauseBucket(queueOf(turn.egress.key), turn, usage.resetMs);
      const isProbe = probes.egress !== null || probes.bucket !== null;
      if (refusal === null && !isProbe) return;
      if (refusal !== null) await Promise.all(holdsAfter(pass, refusal));
      else await Promise.all(probed(pass, (key, probeOf) => slots.endHold(key, probeOf)));
      if (isProbe) reopen(queueOf(turn.egress.key));
    },

    async unanswered(pass) {
      await Promise.all(probed(pass, (key, probeOf) => slots.passProbeOn(key, probeOf)));
    },

    countWaiting: (keyPrefix, priority) =>
      [...queues]
        .filter(([key]) => key.startsWith(keyPrefix))
        .flatMap(([, queue]) => queue.waiting.filter(({ turn }) => !isHeldBack(queue, turn, nowMs())))
        .filter(({ turn }) => turn.priority === priority).length,

    close: () => slots.close(),
  };
}

const accountOf = ({ account }: Turn): string => account ?? PUBLIC;

/** Calls `work` for each hold that the request probed. */
function probed(
  { turn, probes }: Pass,
  work: (key: string, probeOf: number) => Promise<void>,
): Promise<void>[] {
  return (['egress', 'bucket'] as const).flatMap((kind) => {
    const probeOf = probes[kind];
    return probeOf === null ? [] : [work(turn[kind].key, probeOf)];
  });
}

function remove(queue: Queue, waiting: Waiting): void {
  queue.waiting.splice(queue.waiting.indexOf(waiting), 1);
}

const isToFollow = ({ turn }: Waiting) => turn.priority === 'follow';

const egressGate = (priority: CallPriority) => `egress ${priority}`;
const bucketGate = ({ bucket }: Turn, priority: CallPriority) => `bucket ${bucket.key} ${priority}`;

/** Whether a limit of its account, and not the address, keeps it waiting. */
const isHeldBack = ({ openAtMs: gates }: Queue, turn: Turn, nowMs: number): boolean =>
  (gates.get(bucketGate(turn, turn.priority)) ?? 0) > nowMs;

function openAtMs({ openAtMs: gates }: Queue, { turn }: Waiting): number {
  return Math.max(gates.get(egressGate(turn.priority)) ?? 0, gates.get(bucketGate(turn, turn.priority)) ?? 0);
}

/** The waiting requests that may ask now, in order. */
function readyOf(queue: Queue, nowMs: number): Waiting[] {
  for (const [gate, atMs] of queue.openAtMs) if (atMs <= nowMs) queue.openAtMs.delete(gate);
  const ready: Waiting[] = [];
  const counts = new Map<string | null, number>();
  for (const waiting of inTurn(queue)) {
    if (ready.length === BATCH) break;
    const { account } = waiting.turn;
    const count = counts.get(account) ?? 0;
    if (openAtMs(queue, waiting) > nowMs || (account !== null && count >= BATCH_OF_ACCOUNT)) continue;
    counts.set(account, count + 1);
    ready.push(waiting);
  }
  return ready;
}

/** How long requests to a busy address gather, so that they share a statement; protection never waits for others. */
function restBeforeAsking(queue: Queue, ready: readonly Waiting[], nowMs: number): number {
  const askAtMs = queue.askedAtMs + PAUSE_MS;
  const isUrgent = ({ turn, deadlineMs }: Waiting) => turn.priority === 'protect' || deadlineMs <= askAtMs;
  return nowMs < queue.busyUntilMs && !ready.some(isUrgent) ? askAtMs - nowMs : 0;
}

/**
 * By priority, then by arrival; but the oldest that follows an order comes behind the look-ups and as many others as may
 * still leave before it.
 */
function inTurn({ waiting, sinceFollowing }: Queue): readonly Waiting[] {
  const place = waiting.findIndex(isToFollow);
  const next = waiting[place];
  if (next === undefined) return waiting;
  const entries = waiting.findIndex(({ turn }) => rankOf(turn.priority) >= rankOf('place'));
  const latest = entries + Math.max(0, MOST_BEFORE_FOLLOWING - sinceFollowing);
  return latest >= place ? waiting : waiting.toSpliced(place, 1).toSpliced(latest, 0, next);
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

function pause(queue: Queue, waitMs: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(Math.max(1, waitMs), resolve);
    queue.wake = () => {
      cancel();
      resolve();
    };
  });
}

const RETRY_MS = 1_000;

function tooLate({ turn, answer }: Waiting, waitMs: number): TransportError {
  const retryAfterMs = Math.max(RETRY_MS, Math.ceil(waitMs));
  const message = `not sent: ${reasonOf(turn, answer)}; try again in ${Math.round(retryAfterMs / 1_000)} s`;
  return new TransportError('limited', message, { retryAfterMs });
}

function reasonOf({ account, endpoint }: Turn, answer: SlotAnswer | null): string {
  if (answer?.blockedBy !== 'bucket') {
    return answer?.isHeld === true
      ? 'the exchange throttles all requests from this address'
      : 'too many requests wait for the request limit of this address';
  }
  const whose =
    account === null ? `public requests to ${endpoint}` : `this account’s requests to ${endpoint}`;
  return answer.isHeld ? `the exchange throttles ${whose}` : `the request limit of ${whose} is used up`;
}
