import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Exchange } from '#server/exchanges/exchange.ts';
import type { Clock } from '#server/platform/clock.ts';

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
const MOST_LEAVING = 64;
/**
 * A close that takes longer waits for the exchange, or for the requests of its address. Only the latter keeps a place, so
 * that accounts that are not answered hold up no others.
 */
const PLACE_MS = 2_000;

type Budget = Pick<Exchange, 'platform' | 'requestsPerSecond' | 'requestsWaiting'>;

/** Users in the work of this instance, by exchange. */
export interface UserIntake {
  /**
   * How many users of the exchange can be taken up now, so that all of them start within about a second; 0 while more
   * than half of those are at work, because small waves share few statements. Infinity where requests are not limited.
   */
  roomAt(exchange: Budget): number;
  /** Counts a user until the returned function is called, when the order is committed or there is none. */
  take(platform: ExchangePlatform): () => void;
  /** How many users of the exchange can begin to leave their positions now. */
  roomToLeave(exchange: Pick<Budget, 'platform' | 'requestsWaiting'>): number;
  /** Counts a user for a while, or until the returned function is called because the position is closed or cannot be. */
  takeLeaving(platform: ExchangePlatform): () => void;
  /** Who waits for room for the users of a workflow, until the returned function is called; null if another one does. */
  waitForRoom(workflowId: string): (() => void) | null;
}

export function createUserIntake({
  clock,
  mostLeaving = MOST_LEAVING,
}: {
  clock: Pick<Clock, 'monotonicMs'>;
  mostLeaving?: number;
}): UserIntake {
  const taken = new Map<ExchangePlatform, number>();
  /** When the users began who leave their positions. */
  const leaving = new Set<{ platform: ExchangePlatform; sinceMs: number }>();
  const waitingForRoom = new Set<string>();

  return {
    roomAt({ platform, requestsPerSecond, requestsWaiting }) {
      if (!Number.isFinite(requestsPerSecond)) return Number.POSITIVE_INFINITY;
      const most = Math.max(1, Math.floor((requestsPerSecond * AHEAD_SECONDS) / REQUESTS_OF_USER));
      const room = most - (taken.get(platform) ?? 0) - requestsWaiting('place');
      return room < most / 2 ? 0 : room;
    },
    take(platform) {
      const change = (by: number) => taken.set(platform, (taken.get(platform) ?? 0) + by);
      change(1);
      let isTaken = true;
      return () => {
        if (isTaken) change(-1);
        isTaken = false;
      };
    },
    roomToLeave({ platform, requestsWaiting }) {
      const here = [...leaving].filter((one) => one.platform === platform);
      const slowSinceMs = clock.monotonicMs() - PLACE_MS;
      const slow = here.filter(({ sinceMs }) => sinceMs <= slowSinceMs).length;
      const places = here.length - slow + Math.min(slow, requestsWaiting('protect'));
      return Math.max(0, mostLeaving - places);
    },
    takeLeaving(platform) {
      const one = { platform, sinceMs: clock.monotonicMs() };
      leaving.add(one);
      return () => void leaving.delete(one);
    },
    waitForRoom(workflowId) {
      if (waitingForRoom.has(workflowId)) return null;
      waitingForRoom.add(workflowId);
      return () => void waitingForRoom.delete(workflowId);
    },
  };
}
