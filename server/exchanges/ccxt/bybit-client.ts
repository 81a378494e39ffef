import { currentScope } from './call-scope.ts';
import type { CcxtClient, ClientOptions } from './dialect.ts';
import { type BybitClass, loadBybitClass } from './library.ts';

/** The library's own timer stands aside: the transport's deadline covers the whole answer, its timer only the headers. */
const LIBRARY_TIMEOUT_MS = 600_000;

/** One Bybit client for all users, for linear USDT perpetuals on unified accounts. */
export async function createBybitClient(options: ClientOptions): Promise<CcxtClient> {
  const { environment, userAgent, transport, now } = options;
  const Client = multiAccount(await loadBybitClass());
  const client = new Client({
    enableRateLimit: false,
    timeout: LIBRARY_TIMEOUT_MS,
    userAgent,
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
  client.fetchImplementation = transport.fetch;
  client.milliseconds = () => now().getTime();
  client.has.fetchCurrencies = false;
  if (environment === 'demo') client.enableDemoTrading(true);
  onlyTradedContracts(client);
  return client;
}

/**
 * Contracts that are announced only are not asked for: the library would ask for them every time. An answer without
 * contracts must not replace those that are known, and pages that go in a circle must end.
 */
function onlyTradedContracts(client: InstanceType<BybitClass>): void {
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

function multiAccount(Base: BybitClass) {
  return class MultiAccountBybit extends Base {
    /** Synchronous, so that no other call can come between the swap of the credentials and its end. */
    override sign(
      ...[path, api, method, params, headers, body]: Parameters<InstanceType<BybitClass>['sign']>
    ) {
      const { account } = currentScope();
      const before = [this.apiKey, this.secret] as const;
      this.apiKey = account?.credentials.apiKey ?? '';
      this.secret = account?.credentials.apiSecret ?? '';
      try {
        const signed = super.sign(path, api, method, params, headers, body);
        // The library's own broker id; an empty setting would bring its default back.
        return { ...signed, headers: { ...signed.headers, Referer: undefined } };
      } finally {
        [this.apiKey, this.secret] = before;
      }
    }
  };
}
