import { createLastMinute, type LastMinute, reachMs } from './last-minute.ts';

/** Whether a delivery is within its webhook's limit; asked again, it gets the same answer and does not count again. */
export interface DeliveryLimit {
  (hookId: string, delivery: object): boolean;
  /** Deliveries a minute; 0 means no limit. */
  readonly perMinute: number;
  /** What it wants to be told before it judges deliveries of these webhooks. */
  outdated(hookIds: readonly string[]): Outdated;
}

export interface Outdated {
  /** Those that it has not been told about for a second. */
  readonly hookIds: readonly string[];
  /** How far back from this moment it wants to know. */
  readonly reachMs: number;
  /** How many deliveries all instances together took in that time, of which this one's own are known here. */
  learn(hookId: string, taken: number): void;
}

/** Between two instances that learn from each other a webhook may get ahead by what it sends in this time. */
const LEARN_EVERY_MS = 1_000;

interface Webhook {
  own: LastMinute;
  /** What other instances took, as it was when it was learned; a program that has just ended is another one. */
  others: number;
  learnedAt: number;
}

/**
 * Deliveries of the last minute and webhook: this instance's own are counted here, those of others are learned from the
 * log. A delivery over the limit is not taken and does not count.
 */
export function createDeliveryLimit(options: { perMinute: number; nowMs?: () => number }): DeliveryLimit {
  const { perMinute, nowMs = () => performance.now() } = options;
  if (perMinute === 0) {
    return Object.assign(() => true, {
      perMinute,
      outdated: () => ({ hookIds: [], reachMs: 0, learn: () => {} }),
    });
  }
  const webhooks = new Map<string, Webhook>();
  // A commit that failed may be tried again, row by row.
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
    // What is taken until the answer comes may stand in the log by then, or not yet: it is this instance's in any case.
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
