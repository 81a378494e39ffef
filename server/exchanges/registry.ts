import type pg from 'pg';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Logger } from '#server/platform/log.ts';
import type { Metrics } from '#server/platform/metrics.ts';
import manifest from '../../package.json' with { type: 'json' };
import { BITGET } from './ccxt/bitget.ts';
import { BITGET_UNIFIED } from './ccxt/bitget-unified.ts';
import { BYBIT } from './ccxt/bybit.ts';
import type { ExchangeAnswer } from './ccxt/call-scope.ts';
import { createCcxtExchange } from './ccxt/ccxt-exchange.ts';
import type { KeyRefused } from './ccxt/connection.ts';
import type { CcxtDialect } from './ccxt/dialect.ts';
import { forBothKinds } from './ccxt/kinds-of-account.ts';
import { createMarketCache } from './ccxt/market-cache.ts';
import { createPreparationMemory } from './ccxt/prepared-accounts.ts';
import { createTransport } from './ccxt/transport.ts';
import type { Venue } from './ccxt/venue.ts';
import type { Exchange, ExchangeEnvironment } from './exchange.ts';
import { createExchangeClock } from './exchange-clock.ts';
import { addressKey } from './limits/exchange-addresses.ts';
import { createRateLimiter, type RateLimiter } from './limits/rate-limiter.ts';
import { createSharedSlots } from './limits/rate-slots.ts';
import type { Paper } from './paper/open-paper.ts';

export interface ExchangeRegistryOptions {
  exchangeMode: ExchangeEnvironment;
  /** In paper mode an address is for tests: the real client runs against a venue there. */
  bitgetBaseUrl: string | null;
  bybitBaseUrl: string | null;
  exchangeProxyUrls: readonly string[];
  exchangeAddress: string | null;
  exchangeTimeoutMs: number;
  /** The exchanges of paper mode. */
  paper?: Pick<Paper, 'exchange'> | null;
  /** For tests: an in-process venue that the real clients talk to in paper mode. */
  venue?: Venue;
  clock: Clock;
  /**
   * Shared by all instances: the request limits and the prepared accounts. If omitted, requests leave immediately and
   * accounts are prepared every time. Use a dedicated pool: every request queries it first.
   */
  shared?: { pool: pg.Pool; log: Logger };
  /** Receives every request, for the metrics. */
  onCall?: Metrics['exchangeCalled'];
  /** Called for every private call that an exchange refuses because of its key. */
  onKeyRefused?: KeyRefused;
}

export interface ExchangeRegistry {
  /** Throws for an unsupported platform. */
  get(platform: ExchangePlatform): Exchange;
  /** The platforms that can be traded in this mode. */
  readonly supported: readonly ExchangePlatform[];
  close(): Promise<void>;
}

/**
 * Within one second a single request serves all callers of a price, and the price is still fresh enough to decide on.
 */
const REMOTE = { tickerMaxAgeMs: 1_000, missingRefreshMs: 60_000 };
/** Asking an in-process venue costs nothing: a token is listed with its first price, and no price is stale. */
const IN_PROCESS = { tickerMaxAgeMs: 0, missingRefreshMs: 0 };

export function createExchangeRegistry(options: ExchangeRegistryOptions): ExchangeRegistry {
  const limiter = options.shared
    ? createRateLimiter({
        slots: createSharedSlots({ ...options.shared, clock: options.clock }),
        clock: options.clock,
      })
    : null;
  const opened = [openBitget(options, limiter), openExchange(BYBIT, options.bybitBaseUrl, options, limiter)];
  const byPlatform = new Map(opened.map(({ exchange }) => [exchange.platform, exchange]));
  return {
    supported: [...byPlatform.keys()],
    get(platform) {
      const exchange = byPlatform.get(platform);
      if (!exchange) throw new RangeError(`${platform} is not supported in ${options.exchangeMode} mode`);
      return exchange;
    },
    async close() {
      limiter?.close();
      await Promise.all(opened.map(({ close }) => close()));
    },
  };
}

function openBitget(options: ExchangeRegistryOptions, limiter: RateLimiter | null) {
  const { bitgetBaseUrl } = options;
  const common = openCommon(bitgetBaseUrl, options);
  const classic = openExchange(BITGET, bitgetBaseUrl, options, limiter, common);
  const unified = openExchange(BITGET_UNIFIED, bitgetBaseUrl, options, limiter, common);
  return {
    exchange: forBothKinds(classic.exchange, unified.exchange),
    close: async () => {
      await Promise.all([classic.close(), unified.close()]);
    },
  };
}

const venueIn = (baseUrl: string | null, { exchangeMode, venue }: ExchangeRegistryOptions) =>
  exchangeMode === 'paper' && baseUrl === null ? venue : undefined;

/** What is the exchange's, and one for all kinds of account: its contracts and its clock. */
function openCommon(baseUrl: string | null, options: ExchangeRegistryOptions) {
  const { now } = options.clock;
  const { missingRefreshMs } = venueIn(baseUrl, options) ? IN_PROCESS : REMOTE;
  return { markets: createMarketCache({ now, missingRefreshMs }), clock: createExchangeClock({ now }) };
}

function openExchange(
  dialect: CcxtDialect,
  baseUrl: string | null,
  options: ExchangeRegistryOptions,
  limiter: RateLimiter | null,
  { markets, clock: exchangeClock } = openCommon(baseUrl, options),
): { exchange: Exchange; close(): Promise<void> } {
  const { exchangeMode: environment, paper, exchangeTimeoutMs: timeoutMs } = options;
  const { now } = options.clock;
  const venue = venueIn(baseUrl, options);
  if (environment === 'paper' && baseUrl === null && venue === undefined) {
    if (!paper) throw new Error('Paper mode needs the paper exchange, a venue or a venue address');
    return { exchange: paper.exchange(dialect.platform, { onCall: options.onCall }), close: async () => {} };
  }
  const named = dialect.origins[environment];
  const origin = baseUrl === null ? named : permittedOrigin(dialect, environment, baseUrl);
  const isSuccess = (answer: ExchangeAnswer) => {
    const envelope = dialect.envelope(answer);
    return answer.status < 300 && envelope !== null && envelope.code === dialect.successCode;
  };
  const { platform } = dialect;
  const { onCall } = options;
  const transport = createTransport({
    ...(limiter ? { limits: { platform, limits: dialect.limits, limiter } } : {}),
    environment,
    // A client that uses the origin of another environment cannot send anything.
    origins: { [named]: origin },
    proxies: options.exchangeProxyUrls,
    address: options.exchangeAddress,
    timeoutMs,
    clock: options.clock,
    ...(venue ? { venue } : {}),
    environmentProblem: dialect.environmentProblem,
    isSuccess,
    onAnswer({ type, answer, ...times }) {
      // An old price must not set the clock that it is judged by; a refused request may have come from elsewhere.
      const at = type === 'ticker' || !isSuccess(answer) ? null : dialect.envelope(answer)?.at;
      if (at != null) exchangeClock.measure({ at, ...times });
    },
    onCounted: (call) => onCall?.({ platform, ...call }),
  });
  const userAgent = `SignalBoard/${manifest.version}`;
  const { shared, onKeyRefused } = options;
  const exchange = createCcxtExchange({
    dialect,
    now,
    apiEndpoint: venue ? `paper://${platform.toLowerCase()}` : origin,
    clock: exchangeClock,
    // The exchange compares the times of requests with its own clock.
    createClient: () => dialect.createClient({ environment, userAgent, transport, now: exchangeClock.now }),
    tickerMaxAgeMs: (venue ? IN_PROCESS : REMOTE).tickerMaxAgeMs,
    markets,
    addresses: Math.max(1, options.exchangeProxyUrls.length),
    requestsWaiting: (priority) => limiter?.countWaiting(addressKey(platform, ''), priority) ?? 0,
    isPerViewer: environment === 'paper',
    memory: shared && !venue ? createPreparationMemory({ platform, pool: shared.pool }) : null,
    onKeyRefused,
  });
  return { exchange, close: () => transport.close() };
}

/** Accepts an address of the exchange itself only for the environment that it serves. */
function permittedOrigin(dialect: CcxtDialect, environment: ExchangeEnvironment, baseUrl: string): string {
  const address = new URL(baseUrl);
  const problem = dialect.addressProblem(environment, address);
  if (problem !== null)
    throw new Error(`${dialect.platform} cannot be reached at ${address.origin}: ${problem}`);
  return address.origin;
}
