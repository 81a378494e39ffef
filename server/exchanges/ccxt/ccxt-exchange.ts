import { type EntryOrder, type Exchange, ExchangeError, type Ticker } from '../exchange.ts';
import { type ExchangeClock, isLivePrice } from '../exchange-clock.ts';
import { createTickerCache } from '../ticker-cache.ts';
import { createCcxtAccounts, NO_SPOT } from './account.ts';
import { createCcxtConnection, hasCode, type KeyRefused, requireAccountMode } from './connection.ts';
import type { CcxtClient, CcxtDialect } from './dialect.ts';
import type { MarketCache } from './market-cache.ts';
import { describeOrder, type PlacedOrder, type PlacementRequest, placeOrder } from './placement.ts';
import { createCcxtPositions } from './positions.ts';
import type { PreparationMemory } from './prepared-accounts.ts';
import { unreadable } from './readers.ts';

/*
 * The exchange port, implemented on the client library.
 * 1. A placement is sent once. Its outcome is what the exchange is known to have done, or `unknown`.
 * 2. Numbers are passed as strings; an order that the library would round is refused, not sent.
 * 3. Results are read from the exchange's own JSON, where numbers are exact.
 */

/** The library takes an order id; it must be undefined to look up by client order id. */
const BY_CLIENT_ORDER_ID = undefined as unknown as string;

/** Who asks every second gets a new reading every time. */
const SHARED_PRICES_MS = 500;

export function createCcxtExchange(options: {
  dialect: CcxtDialect;
  apiEndpoint: string;
  createClient: () => Promise<CcxtClient>;
  now: () => Date;
  /** The exchange's, measured from its answers. */
  clock: ExchangeClock;
  /** How long one price is reused for all callers. */
  tickerMaxAgeMs: number;
  /** Whether a price depends on the viewer; otherwise one request serves all users. */
  isPerViewer: boolean;
  /** Shared by all kinds of account of the exchange. */
  markets: MarketCache;
  /** How many addresses the requests leave through. */
  addresses: number;
  requestsWaiting: Exchange['requestsWaiting'];
  /** Null: accounts are prepared every time. */
  memory: PreparationMemory | null;
  onKeyRefused?: KeyRefused | undefined;
}): Exchange {
  const { dialect, apiEndpoint, memory, now, clock } = options;
  const { platform } = dialect;
  const connection = createCcxtConnection(options);
  const tickers = createTickerCache<Ticker>({ now, maxAgeMs: options.tickerMaxAgeMs });
  const allTickers = createTickerCache<(token: string) => Ticker | null>({
    now,
    maxAgeMs: Math.min(options.tickerMaxAgeMs, SHARED_PRICES_MS),
  });
  const place = (request: PlacementRequest, order: PlacedOrder) =>
    placeOrder({ connection, dialect, request, order });

  const findOrder: Exchange['findOrder'] = async (account, { token, clientOrderId }, context) => {
    const request = { type: 'find-order', account, context };
    for (const lookUp of dialect.lookUps) {
      const asked = connection.callForToken(request, token, async (client, symbol) => {
        const infos = await lookUp(client, symbol, clientOrderId);
        return infos.map((info) => dialect.orderOf(info, token));
      });
      const found = await asked.catch((error: unknown) => {
        if (hasCode(error, dialect.codes.orderUnknown)) return [];
        throw error;
      });
      const own = found.find((order) => order.clientOrderId === clientOrderId);
      const shown = own && dialect.shownByOrder(own.raw);
      if (shown) await memory?.compare(account, token, shown);
      if (own) return own;
      if (found.length === 0) continue;
      throw unreadable(`${platform} answered another order than ${clientOrderId}`);
    }
    return null;
  };

  return {
    platform,
    apiEndpoint,
    accountMode: dialect.accountMode,
    accountModes: [dialect.accountMode],
    orderMemory: dialect.orderMemory,
    ledgerReach: dialect.ledgerReach,
    requestsPerSecond: dialect.limits.egressPerSecond * options.addresses,
    requestsWaiting: options.requestsWaiting,
    clockAheadMs: () => clock.aheadMs(),

    async fetchTicker(token, context) {
      const found = await connection.listed(token);
      if (!found) return null;
      const viewer = options.isPerViewer ? (context?.viewerUserId ?? '') : '';
      const isLive = (ticker: Ticker) => isLivePrice(ticker, clock.now());
      const fetch = () =>
        connection.call({ type: 'ticker', context }, async (client) => {
          const ticker = await dialect.fetchTicker(client, found.symbol, token);
          if (!ticker) throw new ExchangeError('retry-later', `${platform} has no price of ${token} yet`);
          // Either the price is old, or a clock was set since the exchange's time was read.
          if (!isLive(ticker)) await connection.askTime();
          if (isLive(ticker)) return ticker;
          const seconds = Math.round((clock.now().getTime() - ticker.at.getTime()) / 1_000);
          const apart = `${Math.abs(seconds)} s ${seconds < 0 ? 'ahead' : 'ago'}`;
          const problem = `the price of ${token} is from ${ticker.at.toISOString()}, ${apart}, which is not the present`;
          throw new ExchangeError('retry-later', `${platform}: ${problem}`);
        });
      return tickers.get(`${token} ${viewer}`, fetch, isLive);
    },

    async fetchMarkPrices(tokens, context) {
      const tickerOf = await allTickers.get('', () =>
        connection.call({ type: 'ticker', context }, dialect.fetchTickers),
      );
      const found = tokens.flatMap((token) => tickerOf(token) ?? []);
      const isLive = (ticker: Ticker) => isLivePrice(ticker, clock.now());
      // Either the prices are old, or a clock was set since the exchange's time was read.
      if (!found.every(isLive)) await connection.askTime();
      return new Map(found.filter(isLive).map(({ token, markPrice }) => [token, markPrice]));
    },

    async fetchContract(token) {
      return (await connection.listed(token))?.contract ?? null;
    },

    async inspectKey(account, context) {
      try {
        return await connection.call({ type: 'key', account, context }, dialect.inspectKey);
      } catch (error) {
        if (!hasCode(error, dialect.codes.otherAccountMode)) throw error;
        const accountMode = dialect.accountMode === 'classic' ? 'unified' : 'classic';
        return { accountMode, mayTrade: false, mayWithdraw: false, accountId: null };
      }
    },

    async fetchBalance(account, context) {
      requireAccountMode(dialect, account);
      await connection.ready();
      const futures = await connection.call({ type: 'balance', account, context }, async (client) => {
        const balance = await dialect.fetchBalance(client);
        if (balance) return balance;
        throw new ExchangeError('unknown', `${platform} answered no USDT balance`);
      });
      const { fetchSpotBalance } = dialect;
      if (!context?.includeSpot || fetchSpotBalance === null) return { ...futures, ...NO_SPOT };
      const spot = connection.call({ type: 'spot-balance', account, context }, fetchSpotBalance);
      // Spot figures are only displayed: without them the futures figures are still right.
      return { ...futures, ...(await spot.catch(() => NO_SPOT)) };
    },

    ...createCcxtAccounts({ connection, dialect, memory }),

    placeOrder: (account, order, context) =>
      place({ type: 'place-order', account, context }, entryOf(dialect, order)),

    describeOrder: (order) => describeOrder({ connection, dialect, order: entryOf(dialect, order) }),

    closePosition: (account, { token, side, quantity, clientOrderId }, context) =>
      place(
        { type: 'close-position', account, context },
        {
          token,
          clientOrderId,
          type: 'market',
          side: side === 'long' ? 'sell' : 'buy',
          quantity,
          prices: {},
          parameters: dialect.closeParameters(clientOrderId),
        },
      ),

    findOrder,

    async cancelOrder(account, { token, clientOrderId }, context) {
      const request = { type: 'cancel-order', account, context };
      const reference = dialect.referenceParameters(clientOrderId);
      try {
        await connection.callForToken(request, token, (client, symbol) =>
          client.cancelOrder(BY_CLIENT_ORDER_ID, symbol, reference),
        );
        return { outcome: 'accepted' };
      } catch (error) {
        if (!(error instanceof ExchangeError)) throw error;
        const isGone = hasCode(error, dialect.codes.notCancellable);
        return { outcome: isGone ? 'not-found' : 'unknown', message: error.message };
      }
    },

    fetchOpenOrders: (account, token, context) =>
      connection.callForToken({ type: 'open-orders', account, context }, token, async (client, symbol) => {
        const infos = await dialect.readOpenOrders(client, symbol);
        return infos.filter(dialect.isEntry).map((info) => dialect.orderOf(info, token));
      }),

    async fetchLedger(account, query, context) {
      requireAccountMode(dialect, account);
      await connection.ready();
      const { entries, next } = await connection.call({ type: 'ledger', account, context }, (client) =>
        dialect.fetchLedger(client, query),
      );
      // Exchanges differ in whether the ends of a period belong to it.
      return { entries: entries.filter(({ at }) => at >= query.from && at < query.to), next };
    },

    ...createCcxtPositions({ connection, dialect, place, findOrder, memory, clock }),
  };
}

const entryOf = (dialect: CcxtDialect, order: EntryOrder): PlacedOrder => ({
  token: order.token,
  clientOrderId: order.clientOrderId,
  isEntry: true,
  type: 'limit',
  side: order.side,
  quantity: order.quantity,
  prices: { price: order.price, stopLoss: order.stopLoss, takeProfit: order.takeProfit },
  parameters: dialect.entryParameters(order),
});
