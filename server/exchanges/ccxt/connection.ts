import type { ExchangePlatform } from '#domain/user-settings.ts';
import {
  type CallContext,
  type Contract,
  type ExchangeAccount,
  ExchangeError,
  type PlacementContext,
  UNREADABLE,
} from '../exchange.ts';
import type { ExchangeClock } from '../exchange-clock.ts';
import { type CallScope, callScope } from './call-scope.ts';
import type { CcxtClient, CcxtDialect } from './dialect.ts';
import { exchangeErrorOf, isGiven, type Judgement, judge } from './errors.ts';
import type { MarketCache } from './market-cache.ts';
import type { PreparationMemory } from './prepared-accounts.ts';
import { contractOf } from './readers.ts';

export interface CallRequest {
  type: string;
  account?: ExchangeAccount;
  context?: CallContext | PlacementContext | undefined;
}

/** Called when an exchange refused the account's key, at all or for this call. */
export type KeyRefused = (refusal: {
  platform: ExchangePlatform;
  account: ExchangeAccount;
  message: string;
  /** The account is of the other kind than its credentials say: the key may still be good. */
  isOtherKind: boolean;
}) => Promise<void>;

export type PrivateRequest = CallRequest & { account: ExchangeAccount };

/** The shared client with its contracts. Every call runs in its own scope. */
export interface CcxtConnection {
  client(): Promise<CcxtClient>;
  /** Resolves when the contracts are loaded; the client cannot read answers without them. */
  ready(): Promise<void>;
  listed(token: string): Promise<{ symbol: string; contract: Contract } | null>;
  /** The client's symbol for the token's market; throws if the token is not listed. */
  symbolOf(token: string): Promise<string>;
  /** A request that the exchange refused for its time is sent once more with the exchange's time: it was not executed. */
  call<T>(request: CallRequest, work: (client: CcxtClient) => Promise<T>): Promise<T>;
  /** A private call about one token. */
  callForToken<T>(
    request: PrivateRequest,
    token: string,
    work: (client: CcxtClient, symbol: string) => Promise<T>,
  ): Promise<T>;
  /** Asks the exchange for its time, which then counts whatever was measured before. */
  askTime(): Promise<void>;
  /** Classifies a failure; asks for the exchange's time first if it refused ours. */
  judge(error: unknown, scope: CallScope): Promise<Judgement>;
}

export function createCcxtConnection(options: {
  dialect: CcxtDialect;
  createClient: () => Promise<CcxtClient>;
  clock: ExchangeClock;
  markets: MarketCache;
  memory: PreparationMemory | null;
  onKeyRefused?: KeyRefused | undefined;
}): CcxtConnection {
  const { dialect, memory, markets, clock } = options;
  let creating: Promise<CcxtClient> | null = null;
  let askingTime: Promise<void> | null = null;

  const load = () =>
    connection.call({ type: 'contracts' }, async (client) => {
      await client.loadMarkets(true);
      return client;
    });

  /** Takes the list over from the client that loaded it. */
  async function adoptMarkets(): Promise<void> {
    const [client, source] = [await connection.client(), markets.source()];
    if (source !== null && source.markets !== client.markets) client.setMarketsFromExchange(source);
  }

  /**
   * The library reads an empty or HTML answer with status 200 as an empty list: an account in trouble would look flat.
   */
  function requireUsableAnswer({ sent, answer }: CallScope): void {
    if (!sent) return;
    const envelope = answer === null ? null : dialect.envelope(answer);
    if (envelope !== null && envelope.code === dialect.successCode) return;
    const code = answer !== null && isGiven(answer) ? UNREADABLE : null;
    throw new ExchangeError('unknown', `${dialect.platform}: no usable answer`, { code });
  }

  async function callOnce<T>(request: CallRequest, work: (client: CcxtClient) => Promise<T>): Promise<T> {
    const scope = openScope(request);
    try {
      const client = await connection.client();
      const reading = callScope.run(scope, () => work(client));
      const result = await reading.catch((error: unknown) => {
        // A reader of an unusable answer only says that it is no object.
        if (error instanceof ExchangeError && error.kind === 'unknown') requireUsableAnswer(scope);
        throw error;
      });
      requireUsableAnswer(scope);
      return result;
    } catch (error) {
      const judgement = await connection.judge(error, scope);
      throw error instanceof ExchangeError ? error : exchangeErrorOf(judgement, error);
    }
  }

  const connection: CcxtConnection = {
    client() {
      creating ??= options.createClient().catch((error: unknown) => {
        creating = null;
        throw error;
      });
      return creating;
    },

    async ready() {
      await markets.ready(load);
      await adoptMarkets();
    },

    async listed(token) {
      const market = await markets.marketOf(token, load);
      await adoptMarkets();
      const contract = market ? contractOf(market, token, dialect) : null;
      return contract && market ? { symbol: market.symbol, contract } : null;
    },

    async symbolOf(token) {
      const found = await connection.listed(token);
      if (!found) throw new ExchangeError('refused', `${token} is not listed on ${dialect.platform}`);
      return found.symbol;
    },

    async call(request, work) {
      return await callOnce(request, work).catch((error: unknown) => {
        if (!hasCode(error, dialect.codes.clock)) throw error;
        return callOnce(request, work);
      });
    },

    async callForToken(request, token, work) {
      requireAccountMode(dialect, request.account);
      const symbol = await connection.symbolOf(token);
      return connection.call(request, (client) => work(client, symbol));
    },

    /** One request serves all concurrent callers, and the transport reads the time from its answer. */
    askTime() {
      clock.doubt();
      askingTime ??= connection
        .client()
        .then(async (client) => {
          const asking = callScope.run(openScope({ type: 'time' }), () => client.fetchTime());
          await asking.catch(() => undefined);
        })
        .finally(() => {
          askingTime = null;
        });
      return askingTime;
    },

    async judge(error, scope) {
      const judgement = judge(error, scope, dialect);
      if (judgement.code !== null && dialect.codes.clock.has(judgement.code)) {
        await connection.askTime();
      }
      const { account } = scope;
      const { what, message } = judgement;
      // Only if the exchange answered: our own refusals say nothing about the account.
      if (judgement.code !== null && dialect.codes.otherTerms.has(judgement.code)) markets.expire();
      if ((what === 'refused' || what === 'credentials') && account !== null && scope.answer !== null) {
        // The refusal must not get lost if the database fails.
        await memory?.forget(account.userId, null).catch(() => undefined);
        const isOtherKind = dialect.codes.otherAccountMode.has(judgement.code ?? '');
        // The answer about a key names its kind.
        if (what === 'credentials' && !(isOtherKind && scope.type === 'key'))
          await options.onKeyRefused?.({ platform: dialect.platform, account, message, isOtherKind });
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
    announce: context && 'announce' in context ? context.announce : undefined,
    sent: false,
    answer: null,
  };
}

/** Another kind of account would get errors at best. */
export function requireAccountMode(
  { platform, accountMode }: Pick<CcxtDialect, 'platform' | 'accountMode'>,
  account: ExchangeAccount,
): void {
  const { accountMode: present } = account.credentials;
  if (present === accountMode) return;
  const message = `${platform} is traded with ${accountMode} accounts: the API key belongs to a ${present} one`;
  throw new ExchangeError('credentials', message, { code: 'not-sent' });
}

/** Treats a setting that the exchange refuses because it is already in place as done. */
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
