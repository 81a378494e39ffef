/** Whether a delivery is within its webhook's limit. A repeated call gives the same answer and counts nothing. */
export interface DeliveryLimit {
  (hookId: string, delivery: object): boolean;
  /** Deliveries a minute; 0 means no limit. */
  readonly perMinute: number;
  /** Returns what to look up before deliveries of these webhooks are judged. */
  outdated(hookIds: readonly string[]): Outdated;
}

interface Outdated {
  /** Webhooks whose last lookup is at least a second old. */
  readonly hookIds: readonly string[];
  /** How far back to count. */
  readonly reachMs: number;
  /** Reports the deliveries that all instances together took in that time. */
  learn(hookId: string, taken: number): void;
}

/** With several instances, a webhook may exceed its limit by its deliveries of this interval. */
const LEARN_EVERY_MS = 1_000;

interface Webhook {
  own: LastMinute;
  /** Deliveries that other instances and earlier runs of this one had taken at `learnedAt`. */
  others: number;
  learnedAt: number;
}

/** Counts this instance's deliveries of the last minute; learns those of other instances from the log. */
export function createDeliveryLimit(options: { perMinute: number; nowMs: () => number }): DeliveryLimit {
  const { perMinute, nowMs } = options;
  if (perMinute === 0) {
    return Object.assign(() => true, {
      perMinute,
      outdated: () => ({ hookIds: [], reachMs: 0, learn: () => {} }),
    });
  }
  const webhooks = new Map<string, Webhook>();
  // Keeps the answer: a failed commit may be retried row by row.
  const judged = new WeakMap<object, boolean>();

  function webhookOf(hookId: string): Webhook {
    const known = webhooks.get(hookId);
    if (known !== undefined) return known;
    const fresh = { own: createLastMinute(), others: 0, learnedAt: Number.NEGATIVE_INFINITY };
    webhooks.set(hookId, fresh);
    return fresh;
  }

  function take(hookId: string): boolean {
    const now = nowMs();
    const { own, others } = webhookOf(hookId);
    if (own.count(now) + others >= perMinute) return false;
    own.add(now);
    return true;
  }

  function isWithin(hookId: string, delivery: object): boolean {
    const known = judged.get(delivery);
    if (known !== undefined) return known;
    const within = take(hookId);
    judged.set(delivery, within);
    return within;
  }

  function outdated(hookIds: readonly string[]): Outdated {
    const askedAt = nowMs();
    const due = hookIds.filter((id) => askedAt - webhookOf(id).learnedAt >= LEARN_EVERY_MS);
    // Deliveries taken until the answer arrives may or may not be in the log by then: they count as own.
    const ownBefore = new Map(
      due.map((id) => {
        const { own } = webhookOf(id);
        return [id, own.ever() - own.count(askedAt)];
      }),
    );
    return {
      hookIds: due,
      reachMs: reachMs(askedAt),
      learn(hookId, taken) {
        const webhook = webhookOf(hookId);
        const own = webhook.own.ever() - (ownBefore.get(hookId) ?? 0);
        webhook.others = Math.max(0, taken - own);
        webhook.learnedAt = nowMs();
      },
    };
  }

  return Object.assign(isWithin, { perMinute, outdated });
}

const SECONDS = 60;

/** Counts the events of the last minute in buckets of a second. */
interface LastMinute {
  /** Events of this second and the 59 before it. */
  count(nowMs: number): number;
  add(nowMs: number): void;
  /** All events since creation. */
  ever(): number;
}

/** How far back the count reaches: to the start of its oldest second. */
const reachMs = (nowMs: number): number => (SECONDS - 1) * 1_000 + (nowMs % 1_000);

function createLastMinute(): LastMinute {
  const bySecond = new Map<number, number>();
  let ever = 0;
  return {
    count(nowMs) {
      const latest = Math.floor(nowMs / 1_000);
      let sum = 0;
      for (const [second, events] of bySecond) {
        // Later ones were counted before the clock went back.
        if (second <= latest - SECONDS || second > latest) bySecond.delete(second);
        else sum += events;
      }
      return sum;
    },
    add(nowMs) {
      const second = Math.floor(nowMs / 1_000);
      bySecond.set(second, (bySecond.get(second) ?? 0) + 1);
      ever += 1;
    },
    ever: () => ever,
  };
}
