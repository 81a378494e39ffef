import { type CallScope, callScope } from './call-scope.ts';
import type { CcxtClient, CcxtDialect, Market } from './ccxt-dialect.ts';
import { exchangeErrorOf, type Judgement, judge } from './ccxt-errors.ts';
import {
  type CallContext,
  type Contract,
  type ExchangeAccount,
  ExchangeError,
  type PlacementContext,
} from './exchange.ts';
import { createMarketCache } from './market-cache.ts';

export interface CallRequest {
  type: string;
  account?: ExchangeAccount;
  context?: CallContext | PlacementContext | undefined;
}

export type PrivateRequest = CallRequest & { account: ExchangeAccount };

/** The shared client and its contracts, and the ways to call it: each in a scope of its own. */
export interface CcxtConnection {
  client(): Promise<CcxtClient>;
  /** Resolves when the contracts are known, without which the client cannot read answers. */
  ready(): Promise<void>;
  listed(token: string): Promise<{ symbol: string; contract: Contract } | null>;
  /** The client's name of the token's market; throws when it is not listed. */
  symbolOf(token: string): Promise<string>;
  call<T>(request: CallRequest, work: (client: CcxtClient) => Promise<T>): Promise<T>;
  /** A private call about one token. */
  callForToken<T>(
    request: PrivateRequest,
    token: string,
    work: (client: CcxtClient, symbol: string) => Promise<T>,
  ): Promise<T>;
  /** What a failure means; where it means that our clock is off, the clock is set first. */
  judge(error: unknown, scope: CallScope): Promise<Judgement>;
}

export function createCcxtConnection(options: {
  dialect: CcxtDialect;
  createClient: () => Promise<CcxtClient>;
  now: () => Date;
  missingTokenRefreshMs: number;
}): CcxtConnection {
  const { dialect, now } = options;
  let creating: Promise<CcxtClient> | null = null;

  const markets = createMarketCache({
    now,
    missingRefreshMs: options.missingTokenRefreshMs,
    load: () =>
      connection.call({ type: 'contracts' }, async (client) => {
        await client.loadMarkets(true);
        return client;
      }),
  });

  const contractOf = (market: Market, token: string) =>
    readAnswer(() => {
      const contract = dialect.contractOf(market, token);
      return contract && market ? { symbol: market.symbol, contract } : null;
    });

  /** The library reads a 200 of HTML, or of nothing, as an empty list: an account in trouble would look flat. */
  function requireUsableAnswer({ sent, answer }: CallScope): void {
    if (!sent) return;
    const envelope = answer === null ? null : dialect.envelope(answer);
    if (envelope !== null && dialect.isSuccessCode(envelope.code)) return;
    throw new ExchangeError('unknown', `${dialect.platform}: no usable answer`);
  }

  const connection: CcxtConnection = {
    client() {
      creating ??= options.createClient().catch((error: unknown) => {
        creating = null;
        throw error;
      });
      return creating;
    },

    ready: () => markets.ready(),

    async listed(token) {
      const market = await markets.marketOf(token);
      return market ? contractOf(market, token) : null;
    },

    async symbolOf(token) {
      const found = await connection.listed(token);
      if (!found) throw new ExchangeError('refused', `${token} is not listed on ${dialect.platform}`);
      return found.symbol;
    },

    async call(request, work) {
      const scope = openScope(request);
      try {
        const client = await connection.client();
        const result = await callScope.run(scope, () => work(client));
        requireUsableAnswer(scope);
        return result;
      } catch (error) {
        const judgement = await connection.judge(error, scope);
        throw error instanceof ExchangeError ? error : exchangeErrorOf(judgement, error);
      }
    },

    async callForToken(request, token, work) {
      requireClassic(request.account);
      const symbol = await connection.symbolOf(token);
      return connection.call(request, (client) => work(client, symbol));
    },

    async judge(error, scope) {
      const judgement = judge(error, scope, dialect);
      if (judgement.code !== null && dialect.codes.clock.has(judgement.code)) {
        const client = await connection.client();
        const asking = callScope.run(openScope({ type: 'time' }), () => client.loadTimeDifference());
        // Without its answer the next request meets the same refusal, and asks again.
        await asking.catch(() => undefined);
      }
      return judgement;
    },
  };
  return connection;
}

export function openScope({ type, account, context }: CallRequest): CallScope {
  return {
    type,
    account: account ?? null,
    notAfter: context && 'notAfter' in context ? context.notAfter : null,
    onCall: context?.onCall ?? null,
    viewerUserId: context?.viewerUserId ?? null,
    sent: false,
    answer: null,
  };
}

export function requireClassic(account: ExchangeAccount): void {
  if (account.credentials.accountMode === 'classic') return;
  const message = 'Unified accounts are not supported: the API key must belong to a classic account';
  throw new ExchangeError('credentials', message, { code: 'not-sent' });
}

/** An answer that cannot be read says nothing. */
export function readAnswer<T>(reader: () => T): T {
  try {
    return reader();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ExchangeError('unknown', message, { cause: error });
  }
}
