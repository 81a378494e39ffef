import { type EntryOrder, type Exchange, ExchangeError, type Ticker } from '../exchange.ts';
import { createTickerCache } from '../ticker-cache.ts';
import { prepareAccount, readAccountState } from './account.ts';
import {
  createCcxtConnection,
  hasCode,
  type KeyRefused,
  readAnswer,
  requireAccountMode,
} from './connection.ts';
import type { CcxtClient, CcxtDialect } from './dialect.ts';
import { createLookAhead } from './look-ahead.ts';
import { describeOrder, type PlacedOrder, type PlacementRequest, placeOrder } from './placement.ts';
import { createCcxtPositions, createPositionReader, positionIn } from './positions.ts';
import { createCcxtProtection } from './protection.ts';

/*
 * The port over the client library.
 * 1. A placement is sent once, and its outcome is what the exchange is known to have done, or `unknown`.
 * 2. Numbers cross as strings; what the library would still round is refused, not sent.
 * 3. Results are read from the exchange's own JSON, where numbers are exact.
 */

export interface Freshness {
  /** How long one price serves all callers. */
  tickerMaxAgeMs: number;
  /** Whether a price depends on who looks at it; otherwise one request serves all users. */
  isPerViewer: boolean;
  /** How often at most a token that is not listed makes the list of contracts be read again. */
  missingTokenRefreshMs: number;
}

export interface CcxtExchangeOptions {
  dialect: CcxtDialect;
  apiEndpoint: string;
  createClient: () => Promise<CcxtClient>;
  now: () => Date;
  freshness: Freshness;
  onKeyRefused?: KeyRefused | undefined;
}

/** The library names an order by id; by client order id it wants none. */
const BY_CLIENT_ORDER_ID = undefined as unknown as string;

const NO_SPOT = { spotBalance: null, spotAvailable: null, spotLocked: null };

export function createCcxtExchange(options: CcxtExchangeOptions): Exchange {
  const { dialect, apiEndpoint, now } = options;
  const { platform } = dialect;
  const connection = createCcxtConnection({
    ...options,
    missingTokenRefreshMs: options.freshness.missingTokenRefreshMs,
  });
  const tickers = createTickerCache<Ticker>({ now, maxAgeMs: options.freshness.tickerMaxAgeMs });
  const place = (request: PlacementRequest, order: PlacedOrder) =>
    placeOrder({ connection, dialect, request, order });

  const readPositions = createPositionReader({ connection, dialect });
  const lookAhead = createLookAhead({
    now,
    read: (account, token, onCall) =>
      readAccountState({ connection, dialect, account, context: { onCall } }, token),
  });

  return {
    platform,
    apiEndpoint,
    accountMode: dialect.accountMode,
    orderMemory: dialect.orderMemory,

    async fetchTicker(token, context) {
      const found = await connection.listed(token);
      if (!found) return null;
      const viewer = options.freshness.isPerViewer ? (context?.viewerUserId ?? '') : '';
      return tickers.get(`${token} ${viewer}`, () =>
        connection.call({ type: 'ticker', context }, async (client) => {
          const info = await dialect.readTicker(client, found.symbol);
          const ticker = readAnswer(() => dialect.tickerOf(info, token));
          if (ticker) return ticker;
          throw new ExchangeError('retry-later', `${platform} has no price of ${token} yet`);
        }),
      );
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
        const info = await dialect.readBalance(client);
        const balance = readAnswer(() => dialect.balanceOf(info));
        if (balance) return balance;
        throw new ExchangeError('unknown', `${platform} answered no USDT balance`);
      });
      const { spotBalance } = dialect;
      if (!context?.includeSpot || spotBalance === null) return { ...futures, ...NO_SPOT };
      const spot = connection.call({ type: 'spot-balance', account, context }, async (client) => {
        const info = await spotBalance.read(client);
        return readAnswer(() => spotBalance.of(info));
      });
      // They are shown only: without them the futures figures are still right.
      return { ...futures, ...(await spot.catch(() => NO_SPOT)) };
    },

    expectOrder: lookAhead.begin,

    prepareAccount: (account, preparation, context) =>
      prepareAccount({ connection, dialect, account, preparation, context, lookAhead }),

    placeOrder: (account, order, context) =>
      place({ type: 'place-order', account, context }, entryOf(dialect, order)),

    describeOrder: (order) => describeOrder({ connection, order: entryOf(dialect, order) }),

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

    async findOrder(account, { token, clientOrderId }, context) {
      const request = { type: 'find-order', account, context };
      for (const lookUp of dialect.lookUps) {
        const asked = connection.callForToken(request, token, async (client, symbol) => {
          const infos = await lookUp(client, symbol, clientOrderId);
          return readAnswer(() => infos.map((info) => dialect.orderOf(info, token)));
        });
        const found = await asked.catch((error: unknown) => {
          if (hasCode(error, dialect.codes.orderUnknown)) return [];
          throw error;
        });
        const own = found.find((order) => order.clientOrderId === clientOrderId);
        if (own) return own;
        if (found.length === 0) continue;
        throw new ExchangeError('unknown', `${platform} answered another order than ${clientOrderId}`);
      }
      return null;
    },

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
        return readAnswer(() => infos.filter(dialect.isEntry).map((info) => dialect.orderOf(info, token)));
      }),

    async fetchPosition(account, token, context) {
      return positionIn(await readPositions(account, context), token)?.position ?? null;
    },

    ...createCcxtProtection({ connection, dialect, place, readPositions }),
    ...createCcxtPositions({ connection, dialect, now }),
  };
}

const entryOf = (dialect: CcxtDialect, order: EntryOrder): PlacedOrder => ({
  token: order.token,
  clientOrderId: order.clientOrderId,
  type: 'limit',
  side: order.side,
  quantity: order.quantity,
  prices: { price: order.price, stopLoss: order.stopLoss, takeProfit: order.takeProfit },
  parameters: dialect.entryParameters(order),
});
