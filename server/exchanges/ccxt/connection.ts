import type { ExchangePlatform } from '#domain/user-settings.ts';
import {
  type CallContext,
  type Contract,
  type ExchangeAccount,
  ExchangeError,
  type PlacementContext,
} from '../exchange.ts';
import { type CallScope, callScope } from './call-scope.ts';
import type { CcxtClient, CcxtDialect, Market } from './dialect.ts';
import { exchangeErrorOf, type Judgement, judge } from './errors.ts';
import { createMarketCache } from './market-cache.ts';

export interface CallRequest {
  type: string;
  account?: ExchangeAccount;
  context?: CallContext | PlacementContext | undefined;
}

/** An exchange said of the account's key that it does not take it, or not for this. */
export type KeyRefused = (refusal: {
  platform: ExchangePlatform;
  account: ExchangeAccount;
  message: string;
}) => Promise<void>;

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
  onKeyRefused?: KeyRefused | undefined;
}): CcxtConnection {
  const { dialect, now } = options;
  let creating: Promise<CcxtClient> | null = null;
  let settingClock: Promise<void> | null = null;

  /** One asks for all that were refused. Without an answer the next request meets the same refusal, and asks again. */
  function setClock(): Promise<void> {
    settingClock ??= connection
      .client()
      .then(async (client) => {
        const asking = callScope.run(openScope({ type: 'time' }), () => client.loadTimeDifference());
        await asking.catch(() => undefined);
      })
      .finally(() => {
        settingClock = null;
      });
    return settingClock;
  }

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
      requireAccountMode(dialect, request.account);
      const symbol = await connection.symbolOf(token);
      return connection.call(request, (client) => work(client, symbol));
    },

    async judge(error, scope) {
      const judgement = judge(error, scope, dialect);
      if (judgement.code !== null && dialect.codes.clock.has(judgement.code)) {
        await setClock();
      }
      const { account } = scope;
      // Only what it answered: what is refused here without asking it says nothing of the key.
      if (judgement.what === 'credentials' && account !== null && scope.answer !== null) {
        await options.onKeyRefused?.({ platform: dialect.platform, account, message: judgement.message });
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
    priority: context?.priority ?? null,
    sent: false,
    answer: null,
  };
}

/** A key of another kind of account would be answered by errors at best. */
export function requireAccountMode(
  { platform, accountMode }: Pick<CcxtDialect, 'platform' | 'accountMode'>,
  account: ExchangeAccount,
): void {
  const { accountMode: present } = account.credentials;
  if (present === accountMode) return;
  const message = `${platform} is traded with ${accountMode} accounts: the API key belongs to a ${present} one`;
  throw new ExchangeError('credentials', message, { code: 'not-sent' });
}

/** What the exchange refuses because it is so already has been done. */
export async function unlessAlreadySo(
  { codes }: Pick<CcxtDialect, 'codes'>,
  call: Promise<unknown>,
): Promise<'set' | 'already so'> {
  try {
    await call;
    return 'set';
  } catch (error) {
    if (hasCode(error, codes.alreadySo)) return 'already so';
    throw error;
  }
}

export const hasCode = (error: unknown, codes: ReadonlySet<string>) =>
  error instanceof ExchangeError && error.code !== null && codes.has(error.code);

/** An answer that cannot be read says nothing. */
export function readAnswer<T>(reader: () => T): T {
  try {
    return reader();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ExchangeError('unknown', message, { cause: error });
  }
}
