import type { ExchangePlatform } from '#domain/user-settings.ts';
import manifest from '../../package.json' with { type: 'json' };
import { BITGET } from './bitget.ts';
import type { CcxtDialect } from './ccxt-dialect.ts';
import { createCcxtExchange, type Freshness } from './ccxt-exchange.ts';
import type { Exchange, ExchangeEnvironment } from './exchange.ts';
import type { PaperExchange } from './paper/paper-exchange.ts';
import { createTransport, type Transport } from './transport.ts';

export interface ExchangeRegistryOptions {
  exchangeMode: ExchangeEnvironment;
  bitgetBaseUrl: string | null;
  bybitBaseUrl: string | null;
  exchangeProxyUrls: readonly string[];
  exchangeTimeoutMs: number;
  /** The built-in exchange of paper mode; null otherwise. A base URL, where set, is called instead of it. */
  paper: Pick<PaperExchange, 'handle'> | null;
  now?: () => Date;
}

export interface ExchangeRegistry {
  /** Throws for a platform that is not supported. */
  get(platform: ExchangePlatform): Exchange;
  /** The platforms that can be traded in this mode. */
  readonly supported: readonly ExchangePlatform[];
  close(): Promise<void>;
}

/** A second serves all callers of a price with one request, and is younger than any decision made with it. */
const REMOTE: Freshness = { tickerMaxAgeMs: 1_000, missingTokenRefreshMs: 60_000 };
/** Asking the exchange in our own process costs no request: a token is listed with its first price, and no price is old. */
const IN_PROCESS: Freshness = { tickerMaxAgeMs: 0, missingTokenRefreshMs: 0 };

export function createExchangeRegistry(options: ExchangeRegistryOptions): ExchangeRegistry {
  const opened = [openExchange(BITGET, options.bitgetBaseUrl, options)];
  const byPlatform = new Map(opened.map(({ exchange }) => [exchange.platform, exchange]));
  return {
    supported: [...byPlatform.keys()],
    get(platform) {
      const exchange = byPlatform.get(platform);
      if (!exchange) throw new RangeError(`${platform} is not supported in ${options.exchangeMode} mode`);
      return exchange;
    },
    async close() {
      await Promise.all(opened.map(({ transport }) => transport.close()));
    },
  };
}

function openExchange(
  dialect: CcxtDialect,
  baseUrl: string | null,
  options: ExchangeRegistryOptions,
): { exchange: Exchange; transport: Transport } {
  const { exchangeMode: environment, paper, exchangeTimeoutMs: timeoutMs } = options;
  const now = options.now ?? (() => new Date());
  const inProcess = environment === 'paper' && baseUrl === null ? paper : null;
  if (environment === 'paper' && baseUrl === null && paper === null) {
    throw new Error('Paper mode needs the paper exchange, or the address of one');
  }
  const origin = new URL(baseUrl ?? dialect.origin).origin;
  const transport = createTransport({
    environment,
    origins: { [dialect.origin]: origin },
    proxies: options.exchangeProxyUrls,
    timeoutMs,
    now,
    ...(inProcess ? { inProcess: (request) => inProcess.handle(request) } : {}),
    environmentProblem: dialect.environmentProblem,
    isSuccess: (answer) => {
      const envelope = dialect.envelope(answer);
      return answer.status < 300 && envelope !== null && dialect.isSuccessCode(envelope.code);
    },
  });
  const userAgent = `SignalBoard/${manifest.version}`;
  const exchange = createCcxtExchange({
    dialect,
    now,
    apiEndpoint: inProcess ? `paper://${dialect.platform.toLowerCase()}` : origin,
    createClient: () => dialect.createClient({ environment, userAgent, transport, now }),
    freshness: inProcess ? IN_PROCESS : REMOTE,
  });
  return { exchange, transport };
}
