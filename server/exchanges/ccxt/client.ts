import type { bitget, bybit } from 'ccxt';
import { currentScope } from './call-scope.ts';
import type { CcxtClient, ClientOptions } from './dialect.ts';

export type BitgetClient = bitget;
export type BybitClient = bybit;

/**
 * The one exchange class that is needed, loaded when it is first used: the whole library takes 0.8 s and 86 MB,
 * one class 0.3 s and 32 MB. Its package exports the whole only, hence the address; the version is pinned exactly.
 */
async function loadClass<Class>(name: string): Promise<Class> {
  const address = new URL(`./src/${name}.js`, import.meta.resolve('ccxt'));
  const module = (await import(address.href)) as { default: Class };
  return module.default;
}

export const loadBitgetClass = () => loadClass<typeof bitget>('bitget');
export const loadBybitClass = () => loadClass<typeof bybit>('bybit');

/** The library's own timer stands aside: the transport's deadline covers the whole answer, its timer only the headers. */
const LIBRARY_TIMEOUT_MS = 600_000;

/** One Bitget client for all users, for USDT futures on classic accounts. */
export async function createBitgetClient(options: ClientOptions): Promise<CcxtClient> {
  const client = new (await loadBitgetClass())({
    enableRateLimit: false,
    timeout: LIBRARY_TIMEOUT_MS,
    userAgent: options.userAgent,
    options: {
      // Left undefined, the library asks the exchange with the first user's key and takes any failure for 'classic'.
      uta: false,
      // Its default is the library's own broker id in every private request.
      broker: '',
      defaultType: 'swap',
      fetchMarkets: { types: ['swap'] },
      // Never: it sends placements again.
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
      // Left undefined, the library asks the exchange with the first user's key and keeps the answer for all.
      enableUnifiedMargin: false,
      enableUnifiedAccount: true,
      unifiedMarginStatus: 6,
      defaultType: 'swap',
      defaultSubType: 'linear',
      fetchMarkets: { types: ['linear'], usePrivateInstrumentsInfo: false },
      // Never: it sends placements again.
      maxRetriesOnFailure: 0,
    },
  });
  if (options.environment === 'demo') client.enableDemoTrading(true);
  onlyTradedContracts(client);
  return shared(client, options);
}

/** Makes a client serve all accounts: each request is signed for the account of its call, and sent by our transport. */
function shared(client: CcxtClient, { transport, now }: ClientOptions): CcxtClient {
  client.fetchImplementation = transport.fetch;
  client.milliseconds = () => now().getTime();
  client.has.fetchCurrencies = false;
  const [sign, send] = [client.sign.bind(client), client.fetch2.bind(client)];
  // Synchronous, so that no other call can come between the swap of the credentials and its end.
  client.sign = (...parameters) => {
    const credentials = currentScope().account?.credentials;
    const before = [client.apiKey, client.secret, client.password] as const;
    client.apiKey = credentials?.apiKey ?? '';
    client.secret = credentials?.apiSecret ?? '';
    client.password = credentials?.passphrase ?? '';
    try {
      const signed = sign(...parameters) as { headers?: object };
      // Bybit's broker id of the library; an empty setting would bring its default back.
      return { ...signed, headers: { ...signed.headers, Referer: undefined } };
    } finally {
      [client.apiKey, client.secret, client.password] = before;
    }
  };
  // The turn comes before the signature: exchanges take none that is some seconds old, and the wait may be longer.
  client.fetch2 = async (path, ...rest) => {
    await transport.turn(String(path));
    return send(path, ...rest);
  };
  return client;
}

/**
 * The library lists six product types, one request each; five of them are not traded here. An answer without contracts
 * must not replace those that are known.
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

/**
 * Contracts that are announced only are not asked for: the library would ask for them every time. An answer without
 * contracts must not replace those that are known, and pages that go in a circle must end.
 */
function onlyTradedContracts(client: BybitClient): void {
  const fetchContracts = client.publicGetV5MarketInstrumentsInfo.bind(client);
  let previousCursor: string | undefined;
  client.publicGetV5MarketInstrumentsInfo = async (parameters: { status?: string; cursor?: string } = {}) => {
    const { status, cursor } = parameters;
    if (status === 'PreLaunch') return { retCode: 0, result: { category: 'linear', list: [] } };
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
