import type { MarketReading } from '#domain/workflow/decision.ts';
import { asExchangeError, type Exchange, ExchangeError } from '#server/exchanges/exchange.ts';
import type { Clock } from '#server/platform/clock.ts';

const READ_TRIES = 3;
const READ_RETRY_MS = 300;

/** A price as it was read, or why there is none. */
export interface PriceReading extends Required<Pick<MarketReading, 'livePrice' | 'priceProblem'>> {
  /** When it was asked for, by the monotonic clock. */
  readAtMs: number;
}

/**
 * The price of the token at the exchange, or why it gave none in several tries. `viewerUserId`: paper prices include this
 * user's own signals; null for the price that everyone sees.
 */
export async function readPrice(
  deps: { clock: Clock },
  exchange: Exchange,
  { token }: { token: string },
  viewerUserId: string | null,
  tries = READ_TRIES,
): Promise<PriceReading> {
  let readAtMs = deps.clock.monotonicMs();
  const context = viewerUserId === null ? {} : { viewerUserId };
  const ticker = await retryRead(
    deps,
    () => {
      readAtMs = deps.clock.monotonicMs();
      return exchange.fetchTicker(token, context);
    },
    tries,
  ).catch(asExchangeError);
  return ticker instanceof ExchangeError
    ? { livePrice: null, priceProblem: ticker.message, readAtMs }
    : { livePrice: ticker?.lastPrice ?? null, priceProblem: null, readAtMs };
}

/** For reads only: placements are never repeated. */
export async function retryRead<Result>(
  { clock }: { clock: Clock },
  read: () => Promise<Result>,
  tries = READ_TRIES,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const isWorthAnother =
        error instanceof ExchangeError && error.kind !== 'credentials' && error.kind !== 'refused';
      if (!isWorthAnother || attempt === tries) throw error;
      await clock.sleep(READ_RETRY_MS * attempt);
    }
  }
}
