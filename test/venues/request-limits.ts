import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { FaultWords } from './fault-answers.ts';
import { type VenueAnswer, type VenueRequest, withHeaders } from './http.ts';

/** The request limits of one exchange, as its documentation states them (July 2026). */
interface DocumentedLimits {
  /** For all requests from one address, and how long the exchange refuses that address afterwards. */
  address: { most: number; windowMs: number; recoveryMs: number };
  /** A second, for each account and private endpoint that is not listed. */
  accountPerSecond: number;
  /** A second, for each address and public endpoint. */
  publicPerSecond: number;
  /** A second, for each account. */
  endpoints: Readonly<Record<string, number>>;
  /** The headers that report what remains of an account's limit. */
  headers(state: { limit: number; remaining: number; resetAt: Date }): Record<string, string>;
}

const MINUTE = 60_000;

const LIMITS: Readonly<Record<ExchangePlatform, DocumentedLimits>> = {
  Bitget: {
    address: { most: 6_000, windowMs: MINUTE, recoveryMs: 5 * MINUTE },
    accountPerSecond: 10,
    publicPerSecond: 20,
    endpoints: {
      '/api/v2/mix/account/set-leverage': 5,
      '/api/v2/mix/account/set-margin-mode': 5,
      '/api/v2/mix/account/set-position-mode': 5,
      '/api/v2/mix/position/all-position': 5,
      '/api/v2/mix/position/single-position': 10,
      '/api/v2/mix/position/history-position': 20,
      '/api/v3/account/info': 5,
      '/api/v3/account/settings': 20,
      '/api/v3/account/assets': 20,
      '/api/v3/account/financial-records': 20,
      '/api/v3/position/current-position': 20,
      '/api/v3/position/history-position': 20,
      '/api/v3/trade/order-info': 20,
      '/api/v3/trade/unfilled-orders': 20,
      '/api/v3/trade/history-orders': 20,
      '/api/v3/trade/unfilled-strategy-orders': 20,
      '/api/v3/trade/history-strategy-orders': 20,
    },
    headers: ({ remaining }) => ({ 'x-mbx-used-remain-limit': String(remaining) }),
  },
  Bybit: {
    address: { most: 600, windowMs: 5_000, recoveryMs: 10 * MINUTE },
    accountPerSecond: 50,
    publicPerSecond: 50,
    endpoints: {
      '/v5/order/create': 10,
      '/v5/order/cancel': 10,
      '/v5/position/trading-stop': 10,
      '/v5/position/set-leverage': 10,
      '/v5/position/switch-mode': 10,
      '/v5/account/set-margin-mode': 5,
      '/v5/account/transaction-log': 30,
      '/v5/user/query-api': 10,
    },
    headers: ({ limit, remaining, resetAt }) => ({
      'x-bapi-limit': String(limit),
      'x-bapi-limit-status': String(remaining),
      'x-bapi-limit-reset-timestamp': String(resetAt.getTime()),
    }),
  },
};

/** A request as its limits see it. */
interface CountedRequest {
  platform: ExchangePlatform;
  request: Pick<VenueRequest, 'path' | 'address'>;
  /** The account of the request's key; null for a public request. */
  userId: string | null;
  now: Date;
  words: FaultWords;
}

export interface RequestLimits {
  /** Counts a request. `refusal` is its answer when a limit is exceeded; `report` adds the limit's headers to an answer. */
  count(request: CountedRequest): { refusal: VenueAnswer | null; report(answer: VenueAnswer): VenueAnswer };
}

/** Enforces the documented limits of both exchanges: 429, 10006 or 403, and the recovery of a refused address. */
export function createRequestLimits(): RequestLimits {
  const windows = new Map<string, number[]>();
  const refusedUntil = new Map<string, number>();

  /** The requests of the window that ends now, this one not included. */
  function recent(key: string, nowMs: number, windowMs: number): number[] {
    const times = windows.get(key) ?? [];
    const first = times.findIndex((time) => time > nowMs - windowMs);
    times.splice(0, first < 0 ? times.length : first);
    windows.set(key, times);
    return times;
  }

  return {
    count({ platform, request: { path, address = '' }, userId, now, words }) {
      const limits = LIMITS[platform];
      const nowMs = now.getTime();
      const refuse = (waitMs: number, ofAddress: boolean) =>
        words.tooManyRequests({ retryAfterMs: waitMs, ofAddress });
      const unlimited = (answer: VenueAnswer) => answer;

      const addressKey = `${platform} ${address}`;
      const addressWaitMs = (refusedUntil.get(addressKey) ?? 0) - nowMs;
      if (addressWaitMs > 0) return { refusal: refuse(addressWaitMs, true), report: unlimited };
      const { most, windowMs, recoveryMs } = limits.address;
      const ofAddress = recent(addressKey, nowMs, windowMs);
      if (ofAddress.length >= most) {
        refusedUntil.set(addressKey, nowMs + recoveryMs);
        return { refusal: refuse(recoveryMs, true), report: unlimited };
      }
      ofAddress.push(nowMs);

      const owner = userId ?? address;
      const perSecond = limits.endpoints[path] ?? limits.accountPerSecond;
      const limit = userId === null ? limits.publicPerSecond : perSecond;
      const ofOwner = recent(`${platform} ${owner} ${path}`, nowMs, 1_000);
      const resetMs = (ofOwner[0] ?? nowMs) + 1_000 - nowMs;
      const report = (remaining: number, resetAt: Date) => (answer: VenueAnswer) =>
        withHeaders(answer, limits.headers({ limit, remaining, resetAt }));
      if (ofOwner.length >= limit) {
        const refused = report(0, new Date(nowMs + resetMs))(refuse(resetMs, false));
        return { refusal: refused, report: unlimited };
      }
      ofOwner.push(nowMs);
      return { refusal: null, report: report(limit - ofOwner.length, now) };
    },
  };
}
