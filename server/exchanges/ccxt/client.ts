import type { bitget, bybit } from 'ccxt';
import { notSent } from '../exchange.ts';
import { currentScope } from './call-scope.ts';
import type { CcxtClient, ClientOptions } from './dialect.ts';

export type BitgetClient = bitget;
export type BybitClient = bybit;

/**
 * Loads only the exchange class that is used: the whole library takes 0.8 s and 86 MB, one class 0.3 s and 32 MB. The
 * package exports only the whole, hence the file URL; the version is pinned exactly.
 */
async function loadClass<Class>(name: string): Promise<Class> {
  const address = new URL(`./src/${name}.js`, import.meta.resolve('ccxt'));
  const module = (await import(address.href)) as { default: Class };
  return module.default;
}

export const loadBitgetClass = () => loadClass<typeof bitget>('bitget');
export const loadBybitClass = () => loadClass<typeof bybit>('bybit');

/** Effectively disables the library's timer: it covers only the headers, the transport's deadline the whole answer. */
const LIBRARY_TIMEOUT_MS = 600_000;

/** One Bitget client for all users, for USDT futures on classic accounts. */
export const createBitgetClient = (options: ClientOptions): Promise<CcxtClient> =>
  // If undefined, the library asks the exchange with the first user's key and treats any failure as 'classic'.
  openBitgetClient(options, { uta: false });

/**
 * One Bitget client for all users, for USDT futures on unified accounts in isolated margin mode. Contracts and prices
 * are read where those of classic accounts are.
 */
export async function createBitgetUnifiedClient(options: ClientOptions): Promise<CcxtClient> {
  const client = await openBitgetClient(options, { uta: true, fetchTicker: { uta: false } });
  const setLeverage = client.setLeverage.bind(client);
  client.setLeverage = (leverage, symbol) => setLeverage(leverage, symbol, { marginMode: 'isolated' });
  // It is the account's: the library would ask for the classic one of a contract.
  client.setMarginMode = async () => {
    throw notSent('The margin mode of a unified account is chosen at Bitget: only isolated margin is traded');
  };
  return client;
}

async function openBitgetClient(options: ClientOptions, ofKind: Record<string, unknown>) {
  const client = new (await loadBitgetClass())({
    enableRateLimit: false,
    timeout: LIBRARY_TIMEOUT_MS,
    userAgent: options.userAgent,
    options: {
      ...ofKind,
      // The default is the library's own broker id, sent with every private request.
      broker: '',
      defaultType: 'swap',
      fetchMarkets: { types: ['swap'], uta: false },
      // Never retry: it would send placements again.
      maxRetriesOnFailure: 0,
    },
  });
  if (options.environment === 'demo') client.setSandboxMode(true);
  onlyUsdtFutures(client);
  return shared(client, options);
}

/** One Bybit client for all users, for linear USDT perpetuals on unified accounts. */
export async function createBybitClient(options: ClientOptions): Promise<CcxtClient> {
  const client = new (await loadBybitClass())({
    enableRateLimit: false,
    timeout: LIBRARY_TIMEOUT_MS,
    userAgent: options.userAgent,
    options: {
      // If undefined, the library asks the exchange with the first user's key and reuses the answer for all users.
      enableUnifiedMargin: false,
      enableUnifiedAccount: true,
      unifiedMarginStatus: 6,
      defaultType: 'swap',
      defaultSubType: 'linear',
      fetchMarkets: { types: ['linear'], usePrivateInstrumentsInfo: false },
      // Never retry: it would send placements again.
      maxRetriesOnFailure: 0,
    },
  });
  if (options.environment === 'demo') client.enableDemoTrading(true);
  onlyHeldContracts(client);
  return shared(client, options);
}

/**
 * Makes one client serve all accounts: each request is signed for the account of its call and sent by our transport.
 */
function shared(client: CcxtClient, { transport, now }: ClientOptions): CcxtClient {
  client.fetchImplementation = transport.fetch;
  client.milliseconds = () => now().getTime();
  client.has.fetchCurrencies = false;
  const [sign, send] = [client.sign.bind(client), client.fetch2.bind(client)];
  // Synchronous, so that no other call can run while the credentials are swapped.
  client.sign = (...parameters) => {
    const credentials = currentScope().account?.credentials;
    const before = [client.apiKey, client.secret, client.password] as const;
    client.apiKey = credentials?.apiKey ?? '';
    client.secret = credentials?.apiSecret ?? '';
    client.password = credentials?.passphrase ?? '';
    try {
      const signed = sign(...parameters) as { headers?: object };
      // Removes the library's Bybit broker id here; an empty setting would restore the default.
      return { ...signed, headers: { ...signed.headers, Referer: undefined } };
    } finally {
      [client.apiKey, client.secret, client.password] = before;
    }
  };
  // Wait for the turn before signing: exchanges reject signatures that are some seconds old, and the wait may be
  // longer.
  client.fetch2 = async (path, ...rest) => {
    await transport.turn(String(path));
    return send(path, ...rest);
  };
  return client;
}

/**
 * The library lists six product types, one request each; five of them are not traded here. An answer without contracts
 * must not replace the known ones.
 */
function onlyUsdtFutures(client: BitgetClient): void {
  const fetchContracts = client.publicMixGetV2MixMarketContracts.bind(client);
  client.publicMixGetV2MixMarketContracts = async (parameters: { productType?: string } = {}) => {
    if (parameters.productType !== 'USDT-FUTURES') return { code: '00000', data: [] };
    const answer: unknown = await fetchContracts(parameters);
    const contracts = (answer as { data?: unknown } | null)?.data;
    if (!Array.isArray(contracts)) throw new RangeError('The exchange answered no list of contracts');
    if (contracts.length === 0) throw new RangeError('The list of contracts is empty');
    return answer as Awaited<ReturnType<typeof fetchContracts>>;
  };
}

/** Bybit's list is of trading contracts only, unless another status is asked for. */
const STATUSES_WITH_POSITIONS = ['Delivering', 'Closed'];
const MOST_CONTRACT_PAGES = 20;

/**
 * Asks for the contracts that may still have positions instead of the pre-launch ones that the library asks for. An
 * answer without contracts must not replace the known ones, and circular pages must end.
 */
function onlyHeldContracts(client: BybitClient): void {
  const fetchContracts = client.publicGetV5MarketInstrumentsInfo.bind(client);
  let previousCursor: string | undefined;

  /** None where the exchange does not answer them: trading contracts must not depend on those that have ended. */
  async function ofStatus(status: string): Promise<unknown[]> {
    const found: unknown[] = [];
    let cursor = '';
    for (let page = 0; page < MOST_CONTRACT_PAGES; page += 1) {
      const more = cursor === '' ? {} : { cursor };
      const answer: unknown = await fetchContracts({
        category: 'linear',
        status,
        limit: 1000,
        ...more,
      }).catch(() => null);
      const { list, nextPageCursor } =
        (answer as { result?: { list?: unknown; nextPageCursor?: unknown } } | null)?.result ?? {};
      if (!Array.isArray(list)) break;
      found.push(...list.filter((one) => (one as { status?: unknown } | null)?.status === status));
      if (typeof nextPageCursor !== 'string' || nextPageCursor === '' || nextPageCursor === cursor) break;
      cursor = nextPageCursor;
    }
    return found;
  }

  client.publicGetV5MarketInstrumentsInfo = async (parameters: { status?: string; cursor?: string } = {}) => {
    const { status, cursor } = parameters;
    if (status === 'PreLaunch') {
      const found = await Promise.all(STATUSES_WITH_POSITIONS.map(ofStatus));
      return { retCode: 0, result: { category: 'linear', list: found.flat() } };
    }
    if (cursor !== undefined && cursor === previousCursor) throw new RangeError('The contracts have no end');
    previousCursor = cursor;
    const answer: unknown = await fetchContracts(parameters);
    const contracts = (answer as { result?: { list?: unknown } } | null)?.result?.list;
    if (!Array.isArray(contracts)) throw new RangeError('The exchange answered no list of contracts');
    if (cursor === undefined && contracts.length === 0)
      throw new RangeError('The list of contracts is empty');
    return answer as Awaited<ReturnType<typeof fetchContracts>>;
  };
}
