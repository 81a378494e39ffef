import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Exchange } from '#server/exchanges/exchange.ts';

/*
 * How many users this instance takes up at a time. Instances share a signal, and each brings the budget of its address:
 * one that took more users than it can start would keep them from the others.
 */

/** Up to and with the order of a prepared account, with one to spare. */
const REQUESTS_OF_USER = 4;
const AHEAD_SECONDS = 1;
/**
 * Users of an exchange whose positions an instance closes for signals side by side: each has a time limit, which all of
 * them would exceed if they shared the requests of an address with a thousand others.
 */
const MOST_LEAVING = 32;

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
  /** How many users of the exchange can begin to leave their positions now; as above, none rather than a few. */
  roomToLeave(platform: ExchangePlatform): number;
  /** Counts a user until the returned function is called, when the position is closed or cannot be. */
  takeLeaving(platform: ExchangePlatform): () => void;
}

export function createUserIntake({ mostLeaving = MOST_LEAVING } = {}): UserIntake {
  const taken = new Map<ExchangePlatform, number>();
  const leaving = new Map<ExchangePlatform, number>();

  function take(counts: Map<ExchangePlatform, number>, platform: ExchangePlatform): () => void {
    const change = (by: number) => counts.set(platform, (counts.get(platform) ?? 0) + by);
    change(1);
    let isTaken = true;
    return () => {
      if (isTaken) change(-1);
      isTaken = false;
    };
  }

  const unlessFew = (room: number, most: number): number => (room < most / 2 ? 0 : room);

  return {
    roomAt({ platform, requestsPerSecond, ordersWaiting }) {
      if (!Number.isFinite(requestsPerSecond)) return Number.POSITIVE_INFINITY;
      const most = Math.max(1, Math.floor((requestsPerSecond * AHEAD_SECONDS) / REQUESTS_OF_USER));
      const room = most - (taken.get(platform) ?? 0) - ordersWaiting();
      return unlessFew(room, most);
    },
    take: (platform) => take(taken, platform),
    roomToLeave: (platform) => unlessFew(mostLeaving - (leaving.get(platform) ?? 0), mostLeaving),
    takeLeaving: (platform) => take(leaving, platform),
  };
}
