import { currentScope } from './call-scope.ts';
import type { CcxtClient, ClientOptions } from './dialect.ts';
import { type BitgetClass, loadBitgetClass } from './library.ts';

/** The library's own timer stands aside: the transport's deadline covers the whole answer, its timer only the headers. */
const LIBRARY_TIMEOUT_MS = 600_000;

/** One Bitget client for all users, for USDT futures on classic accounts. */
export async function createBitgetClient(options: ClientOptions): Promise<CcxtClient> {
  const { environment, userAgent, transport, now } = options;
  const Client = multiAccount(await loadBitgetClass());
  const client = new Client({
    enableRateLimit: false,
    timeout: LIBRARY_TIMEOUT_MS,
    userAgent,
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
  client.fetchImplementation = transport.fetch;
  client.milliseconds = () => now().getTime();
  client.has.fetchCurrencies = false;
  if (environment === 'demo') client.setSandboxMode(true);
  onlyUsdtFutures(client);
  return client;
}

/**
 * The library lists six product types, one request each; five of them are not traded here. An answer without contracts
 * must not replace those that are known.
 */
function onlyUsdtFutures(client: InstanceType<BitgetClass>): void {
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

function multiAccount(Base: BitgetClass) {
  return class MultiAccountBitget extends Base {
    /** Synchronous, so that no other call can come between the swap of the credentials and its end. */
    override sign(
      ...[path, api, method, params, headers, body]: Parameters<InstanceType<BitgetClass>['sign']>
    ) {
      const { account } = currentScope();
      const before = [this.apiKey, this.secret, this.password] as const;
      this.apiKey = account?.credentials.apiKey ?? '';
      this.secret = account?.credentials.apiSecret ?? '';
      this.password = account?.credentials.passphrase ?? '';
      try {
        return super.sign(path, api, method, params, headers, body);
      } finally {
        [this.apiKey, this.secret, this.password] = before;
      }
    }
  };
}
