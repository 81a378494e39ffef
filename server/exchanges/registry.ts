import type { ExchangePlatform } from '#domain/user-settings.ts';
import manifest from '../../package.json' with { type: 'json' };
import { BITGET } from './bitget.ts';
import type { CcxtDialect } from './ccxt-dialect.ts';
import { createCcxtExchange } from './ccxt-exchange.ts';
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

/** In paper mode a token appears with its first price, and must not wait for the hourly list. */
const PAPER_MISSING_TOKEN_REFRESH_MS = 1_000;

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
    ...(environment === 'paper' ? { missingTokenRefreshMs: PAPER_MISSING_TOKEN_REFRESH_MS } : {}),
  });
  return { exchange, transport };
}
