import { CALCULATOR_PRICES_PER_SECOND } from '#domain/sizing/trading-constants.ts';
import { deny } from '#domain/workflow/denials.ts';
import type { Deps } from '#server/deps.ts';
import { type Exchange, ExchangeError, type Ticker } from '#server/exchanges/exchange.ts';
import { exchangeTime, isLivePrice } from '#server/exchanges/exchange-clock.ts';
import { createTickerCache } from '#server/exchanges/ticker-cache.ts';
import { createSharedLimit } from '#server/platform/http/shared-limit.ts';

const PRICE_MAX_AGE_MS = 1_000;

export type CurrentPrice =
  | { ok: true; price: string }
  /** `problem`: a clause without a full stop. */
  | { ok: false; isLimited: boolean; problem: string };

/** The calculator's price service. Prices are at most one second old. */
export interface CurrentPrices {
  /** `viewerUserId`: the user who sees the price; null for the price that everybody sees. */
  read(request: { exchange: Exchange; token: string; viewerUserId: string | null }): Promise<CurrentPrice>;
}

/** The exchange refused because of its rate limit, or our own limiter held the request back for too long. */
const RATE_LIMIT_TEXT = /too many (requests|visits)|request limit|rate limit/i;
const isRateLimit = ({ kind, message }: ExchangeError): boolean =>
  kind === 'retry-later' && RATE_LIMIT_TEXT.test(message);

class LimitReached extends Error {
  override readonly name = 'LimitReached';
}

/**
 * Prices for the calculator, with a separate limit of 2 requests a second, counted in the database for all instances, so
 * that open calculators never crowd out the engine's requests. One request serves all callers that ask at the same time
 * and for a second after.
 */
export function createCurrentPrices(deps: Pick<Deps, 'pool' | 'clock' | 'config'>): CurrentPrices {
  const limit = createSharedLimit(deps.pool, {
    keyPrefix: 'current-price',
    points: CALCULATOR_PRICES_PER_SECOND,
    duration: 1,
  });
  const prices = createTickerCache<Ticker | null>({
    now: () => deps.clock.now(),
    maxAgeMs: PRICE_MAX_AGE_MS,
  });

  async function fetchPrice(exchange: Exchange, token: string, viewerUserId: string | null) {
    if ((await limit('all')) !== null) throw new LimitReached();
    return await exchange.fetchTicker(token, viewerUserId === null ? {} : { viewerUserId });
  }

  return {
    async read({ exchange, token, viewerUserId }) {
      const { platform } = exchange;
      // Only paper prices depend on the viewer.
      const viewer = deps.config.exchangeMode === 'paper' ? (viewerUserId ?? '') : '';
      const key = `${platform} ${token} ${viewer}`;
      try {
        const isLive = (ticker: Ticker | null) =>
          ticker === null || isLivePrice(ticker, exchangeTime(exchange, deps.clock.now()));
        const ticker = await prices.get(key, () => fetchPrice(exchange, token, viewerUserId), isLive);
        if (ticker !== null) return { ok: true, price: ticker.lastPrice };
        const { reason } = deny('token_not_listed', { token, exchange: platform });
        return { ok: false, isLimited: false, problem: reason };
      } catch (error) {
        if (error instanceof LimitReached) {
          const problem = `the price service is at its limit (Maximum ${CALCULATOR_PRICES_PER_SECOND} requests per second)`;
          return { ok: false, isLimited: true, problem };
        }
        if (!(error instanceof ExchangeError)) throw error;
        if (isRateLimit(error)) {
          const problem = `${platform} is at its rate limit: ${error.message}`;
          return { ok: false, isLimited: true, problem };
        }
        const { reason } = deny('exchange_unavailable', { exchange: platform, message: error.message });
        return { ok: false, isLimited: false, problem: reason };
      }
    },
  };
}
