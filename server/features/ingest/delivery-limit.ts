/** Whether a delivery is within its webhook's limit; asked again, it gets the same answer and does not count again. */
export interface DeliveryLimit {
  (hookId: string, delivery: object): boolean;
  /** Deliveries a minute; 0 means no limit. */
  readonly perMinute: number;
  /** Of these webhooks those that it has not been told about for a second. */
  outdated(hookIds: readonly string[]): string[];
  /** How many deliveries all instances together took in the last minute. */
  learn(hookId: string, taken: number): void;
}

export const WINDOW_MS = 60_000;
/** Between two instances that learn from each other a webhook may get ahead by what it sends in this time. */
const LEARN_EVERY_MS = 1_000;

/** Deliveries a minute and webhook: counted here, and corrected by what the others have taken. */
export function createDeliveryLimit(options: { perMinute: number; nowMs?: () => number }): DeliveryLimit {
  const { perMinute, nowMs = () => performance.now() } = options;
  if (perMinute === 0) {
    return Object.assign(() => true, { perMinute, outdated: () => [], learn: () => {} });
  }
  const learnedAt = new Map<string, number>();
  const windows = new Map<string, { since: number; count: number }>();
  // A commit that failed may be tried again, row by row.
  const judged = new WeakMap<object, boolean>();

  function count(hookId: string): number {
    const now = nowMs();
    const current = windows.get(hookId);
    if (current === undefined || now - current.since >= WINDOW_MS) {
      windows.set(hookId, { since: now, count: 1 });
      return 1;
    }
    current.count += 1;
    return current.count;
  }

  function isWithin(hookId: string, delivery: object): boolean {
    const known = judged.get(delivery);
    if (known !== undefined) return known;
    const within = count(hookId) <= perMinute;
    judged.set(delivery, within);
    return within;
  }

  return Object.assign(isWithin, {
    perMinute,
    outdated: (hookIds: readonly string[]) =>
      hookIds.filter((id) => nowMs() - (learnedAt.get(id) ?? Number.NEGATIVE_INFINITY) >= LEARN_EVERY_MS),
    learn(hookId: string, taken: number) {
      const now = nowMs();
      learnedAt.set(hookId, now);
      const current = windows.get(hookId);
      if (current === undefined || now - current.since >= WINDOW_MS) {
        windows.set(hookId, { since: now, count: taken });
      } else {
        current.count = Math.max(current.count, taken);
      }
    },
  });
}
