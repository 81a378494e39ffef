import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Exchange } from '#server/exchanges/exchange.ts';

/*
 * How many users this instance takes up at a time. Instances share a signal, and each brings the budget of its address:
 * one that took more users than it can start would keep them from the others.
 */

/** Up to and with the order of a prepared account, with one to spare. */
const REQUESTS_OF_USER = 4;
const AHEAD_SECONDS = 1;

type Budget = Pick<Exchange, 'platform' | 'requestsPerSecond' | 'ordersWaiting'>;

/** Users in the work of this instance, by exchange. */
export interface UserIntake {
  /**
   * How many users of the exchange can be taken up now, so that all of them start within about a second; 0 while more
   * than half of those are at work, because small waves share few statements. Infinity where requests are not limited.
   */
  roomAt(exchange: Budget): number;
  /** Counts a user until the returned function is called, when the order is committed or there is none. */
  take(platform: ExchangePlatform): () => void;
}

export function createUserIntake(): UserIntake {
  const taken = new Map<ExchangePlatform, number>();
  const change = (platform: ExchangePlatform, by: number) =>
    taken.set(platform, (taken.get(platform) ?? 0) + by);

  return {
    roomAt({ platform, requestsPerSecond, ordersWaiting }) {
      if (!Number.isFinite(requestsPerSecond)) return Number.POSITIVE_INFINITY;
      const most = Math.max(1, Math.floor((requestsPerSecond * AHEAD_SECONDS) / REQUESTS_OF_USER));
      const room = most - (taken.get(platform) ?? 0) - ordersWaiting();
      return room < most / 2 ? 0 : room;
    },
    take(platform) {
      change(platform, 1);
      let isTaken = true;
      return () => {
        if (isTaken) change(platform, -1);
        isTaken = false;
      };
    },
  };
}
