/** Whether a delivery is within its webhook's limit; asked again, it gets the same answer and does not count again. */
export type DeliveryLimit = (hookId: string, delivery: object) => boolean;

const WINDOW_MS = 60_000;

/** Deliveries a minute and webhook, by this program alone; 0 means no limit. */
export function createDeliveryLimit(options: { perMinute: number; nowMs?: () => number }): DeliveryLimit {
  const { perMinute, nowMs = () => performance.now() } = options;
  if (perMinute === 0) return () => true;
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

  return (hookId, delivery) => {
    const known = judged.get(delivery);
    if (known !== undefined) return known;
    const within = count(hookId) <= perMinute;
    judged.set(delivery, within);
    return within;
  };
}
